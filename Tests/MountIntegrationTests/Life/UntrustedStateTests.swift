import Testing

/// A state that another user created, or could have created, is not used.
@Suite struct UntrustedStateTests {
    /// In a world-writable directory, any user may create an entry at the place of the state next to an imported
    /// directory.
    @Test func anExistingEntryIsNotAdoptedAsState() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                mkdir "$HERE/disk"; mount -t tmpfs -o size=16m,mode=1777 none "$HERE/disk"
                mkdir "$HERE/disk/dir" "$HERE/victim"; echo text >"$HERE/disk/dir/file"
                for n in $(seq 20); do echo "$n" >"$HERE/victim/$n"; done
                bad() {
                    refused 4 "already exists" replica import d "$HERE/disk/dir" --store "file://$STORE"
                    content_is "$HERE/disk/dir/file" text
                    equal "$(ls "$HERE/victim" | wc -l)" 20
                    prints "" replica list
                    rm -r "$HERE/disk/.d.replica"
                }
                strange() { mkdir -m "$1" "$HERE/disk/.d.replica"; }
                strange 700; ln -s "$HERE/victim" "$HERE/disk/.d.replica/staging"; chown -R 12345 "$HERE/disk/.d.replica"; bad
                strange 755; echo '{}' >"$HERE/disk/.d.replica/domain.json"; bad
                strange 700; mkdir "$HERE/disk/.d.replica/tree"; bad
                ln -s "$HERE/victim" "$HERE/disk/.d.replica"; bad
                strange 777; chown 12345 "$HERE/disk/.d.replica"; bad
                # Our own that was broken off stands in nobody's way.
                strange 700; mkdir -m 700 "$HERE/disk/.d.replica/staging"
                replica import d "$HERE/disk/dir" --store "file://$STORE"
                settle; content_is "$STORE/file" text
                """#)
        }
    }

    @Test func anUntrustedStateIsNotOpened() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                mkdir "$HERE/victim"; for n in $(seq 20); do echo "$n" >"$HERE/victim/$n"; done
                echo text >"$SRC/file"; begin; settle; replica unmount d; no_daemon
                bad() {
                    local said
                    said=$(mount_replica d "$MNT" 2>&1) && fail "mounted"
                    case $said in *"$1"*) ;; *) fail "no '$1' in: $said" ;; esac
                    said=$(replica remove d --keep none 2>&1) && fail "removed"
                    equal "$(ls "$HERE/victim" | wc -l)" 20
                    content_is "$TREE/file" text
                }
                rmdir "$STATE/staging"; ln -s "$HERE/victim" "$STATE/staging"; bad "$STATE/staging is not a directory"
                rm "$STATE/staging"; mkdir -m 700 "$STATE/staging"
                chmod 770 "$STATE"; bad "chmod 700 it"; chmod 700 "$STATE"
                chown 12345 "$STATE"; bad "belongs to another user"; chown 0 "$STATE"
                chown 12345 "$STATE/domain.json"; bad "belongs to another user"; chown 0 "$STATE/domain.json"
                mount_it; content_is "$MNT/file" text
                """#)
        }
    }
}
