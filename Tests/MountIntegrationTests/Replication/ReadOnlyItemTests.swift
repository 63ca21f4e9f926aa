import Testing

/// Modes that bind the daemon's own user: files without write permission, and folders too.
@Suite struct ReadOnlyItemTests {
    @Test func aUsersDomainFollowsTheStore() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                as_replicatest <<'END'
                modes() { (cd "$1" && find . -mindepth 1 -printf '%m %p\n' | sort); }
                # As another client, whom no mode stops.
                inside() { local mode=$(stat -c %a "$1"); chmod 755 "$1"; (cd "$1" && eval "$2"); chmod "$mode" "$1"; }
                echo hi >"$STORE/ro"; chmod 444 "$STORE/ro"
                mkdir -p "$STORE/rod/deep"; echo in >"$STORE/rod/in"; echo deep >"$STORE/rod/deep/f"
                chmod 555 "$STORE/rod/deep" "$STORE/rod"
                replica add d --store "file://$STORE" >/dev/null; mount_it
                prints hi cat "$MNT/ro"
                equal "$(ls "$MNT/rod" | tr '\n' ' ')" "deep in "
                prints in cat "$MNT/rod/in"
                prints deep cat "$MNT/rod/deep/f"
                settle; same; here=$(modes "$MNT"); prints "$here" modes "$STORE"
                # Programs are refused as elsewhere.
                not touch "$MNT/rod/new" 2>/dev/null; not tee "$MNT/ro" </dev/null 2>/dev/null
                replica evict "$MNT/ro" >/dev/null; prints hi cat "$MNT/ro"
                inside "$STORE" 'chmod 644 ro; echo more >>ro; chmod 444 ro'
                inside "$STORE/rod" 'echo new >new; mv in moved; ln -s new link; mkdir folder; chmod 755 deep; rm -r deep'
                settle; same; here=$(modes "$MNT"); prints "$here" modes "$STORE"
                equal "$(stat -c %a "$MNT/rod")" 555
                inside "$STORE/rod" 'rm new link; rmdir folder; echo other >moved'
                settle; same; prints other cat "$MNT/rod/moved"
                # A folder that moves, one whose listing was dropped, and one that is gone.
                mkdir "$STORE/other"; mkdir "$STORE/rod2"; echo t >"$STORE/rod2/t"; chmod 555 "$STORE/rod2"; settle
                ls "$MNT/rod2" >/dev/null; chmod 755 "$STORE/rod2"; mv "$STORE/rod2" "$STORE/other/"; chmod 555 "$STORE/other/rod2"
                settle; same; equal "$(stat -c %a "$MNT/other/rod2")" 555
                replica forget "$MNT/other/rod2" >/dev/null; chmod 755 "$STORE/other/rod2"; rm -r "$STORE/other/rod2"
                settle; same
                # A placeholder that nobody may read is a placeholder after a crash too.
                replica evict "$MNT/ro" >/dev/null; chmod 000 "$MNT/ro"; settle
                pid=$(daemon); kill -9 "$pid"; gone "$pid"
                mount_it; settle; chmod 444 "$MNT/ro"; settle
                equal "$(cat "$STORE/ro" | tr '\n' ' ')" "hi more "
                equal "$(cat "$MNT/ro" | tr '\n' ' ')" "hi more "
                fusermount3 -u "$MNT"; end_daemon
                END
                """#)
        }
    }

    @Test func aReadOnlyTreeCanBeCopied() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                as_replicatest <<'END'
                modes() { (cd "$1" && find . -mindepth 1 -printf '%m %p\n' | sort); }
                begin
                mkdir -p own/mod/deep; echo x >own/mod/x; echo y >own/mod/deep/y; ln -s x own/mod/l
                chmod 444 own/mod/x; chmod 555 own/mod/deep own/mod
                cp -a own/mod "$MNT/"; settle; same
                here=$(modes "$MNT"); prints "$here" modes "$STORE"
                prints "$(modes own)" modes "$MNT"
                mkdir "$MNT/above"; mv "$MNT/mod" "$MNT/above/" 2>/dev/null || { chmod 755 "$MNT/mod"; mv "$MNT/mod" "$MNT/above/"; }
                chmod 555 "$MNT/above/mod"; settle; same; mv "$MNT/above/mod" "$MNT/" 2>/dev/null ||
                    { chmod 755 "$MNT/above/mod"; mv "$MNT/above/mod" "$MNT/"; }
                chmod 755 "$MNT/mod"; settle; equal "$(stat -c %a "$STORE/mod")" 755
                echo z >"$MNT/mod/z"; mv "$MNT/mod/x" "$MNT/mod/w"; rm "$MNT/mod/l"
                chmod 555 "$MNT/mod"; settle; same
                here=$(modes "$MNT"); prints "$here" modes "$STORE"
                fusermount3 -u "$MNT"; end_daemon
                replica remove d --keep downloaded >/dev/null
                find "$HERE" -path '*/mod/deep/y' -not -path "$STORE/*" -not -path "$HERE/own/*" | grep -q .
                END
                """#)
        }
    }
}
