import Testing

/// Imports a directory: immediately, or not at all without any change.
@Suite struct ImportTests {
    @Test func importedMountedUnmountedAndMountedAgain() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir -p "$SRC/sub/deep"
                echo one >"$SRC/one"; echo two >"$SRC/sub/two"; ln -s one "$SRC/link"; chmod 600 "$SRC/one"
                cp -a "$SRC" "$HERE/before"
                begin
                not test -e "$SRC"
                diff -r --no-dereference "$HERE/before" "$MNT"
                settle; same
                number=$(stat -c %i "$MNT/sub/two")
                unmount_it
                not is_mounted
                prints "" ls -A "$MNT"
                mount_it
                diff -r --no-dereference "$HERE/before" "$MNT"
                equal "$(stat -c %i "$MNT/sub/two")" "$number"
                replica unmount d; not is_mounted
                """)
        }
    }

    @Test func aTakenNameLeavesTheDirectoryUnchanged() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$HERE/other"; echo mine >"$HERE/other/file"
                echo first >"$SRC/first"
                import_it
                look() { find "$HERE/other" -printf '%i %m %s %T@ %C@ %p\\n'; }
                before=$(look)
                refused 4 "already" replica import d "$HERE/other" --store "file://$STORE"
                equal "$(look)" "$before"
                """)
        }
    }

    @Test func onlyALocalDirectoryIsImported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo text >"$HERE/file"
                ln -s "$SRC" "$HERE/pointer"
                bad() { refused "$1" "$2" replica import d "$3" --store "file://$STORE"; }
                bad 11 "directory" "$HERE/file"
                bad 11 "directory" "$HERE/pointer"
                bad 11 "no such" "$HERE/nothing"
                refused 15 "" replica import d "$SRC" --store "gopher://$STORE"
                refused 15 "" replica import d "$SRC" --store "file://$HERE/file"
                refused 64 "name" replica import a/b "$SRC" --store "file://$STORE"
                equal "$(cat "$HERE/file")" text
                prints "" find "$HERE/data" -mindepth 1 -not -name replica
                import_it
                """)
        }
    }

    @Test func aMountpointIsRefusedAndTheStateStaysOnTheSameDisk() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$HERE/disk"
                mount -t tmpfs -o size=16m none "$HERE/disk"
                echo text >"$HERE/disk/file"
                refused 11 "mountpoint" replica import d "$HERE/disk" --store "file://$STORE"
                equal "$(cat "$HERE/disk/file")" text
                prints "" find "$HERE/data" -mindepth 1 -not -name replica
                mkdir "$HERE/disk/dir"
                echo more >"$HERE/disk/dir/file"
                replica import d "$HERE/disk/dir" --store "file://$STORE"
                disk=$(stat -c %d "$HERE/disk"); prints "$disk" stat -c %d "$STATE/tree/"
                mount_it
                equal "$(cat "$MNT/file")" more
                settle; same
                """)
        }
    }

    @Test func directoriesInsideOrAroundADomainAreRefused() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$SRC/inner"; echo text >"$SRC/inner/file"
                begin; settle
                mkdir "$HERE/store2"
                bad() { refused 11 "$1" replica import e "$2" --store "file://$HERE/store2"; }
                bad "domain" "$MNT/inner"
                bad "domain" "$TREE/inner"
                bad "domain" "$TREE"
                bad "" "$HERE"
                equal "$(cat "$MNT/inner/file")" text
                equal "$(ls -A "$MNT")" inner
                equal "$(ls "$HERE/data/replica")" d
                """)
        }
    }

    @Test func aKilledImportIsCompleteOrDidNotHappen() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                for n in $(seq 200); do echo "$n" >"$SRC/file$n"; done
                cp -a "$SRC" "$HERE/before"
                # From 3 to 150 ms after the start, unlike every time.
                for delay in 0.003 0.011 0.019 0.026 0.033 0.041 0.052 0.064 0.080 0.100 0.150; do
                    "$BIN/mount.replica" --import d "$SRC" "file://$STORE" >/dev/null 2>&1 &
                    sleep "$delay"
                    kill -9 $! 2>/dev/null || true
                    if [ -e "$STATE/lock" ]; then
                        pid=$(daemon) && [ -z "$pid" ] || { kill -9 $pid; gone $pid; }
                    fi
                    wait
                    # Also one that has not taken the lock yet, or let go of it.
                    for pid in $(replicas_with "--import d $SRC"); do
                        kill -9 "$pid" 2>/dev/null || true; gone "$pid"
                    done
                    if [ -e "$SRC" ]; then
                        diff -r "$HERE/before" "$SRC"
                        continue
                    fi
                    mount_it
                    diff -r "$HERE/before" "$MNT"
                    unmount_it
                    replica remove d --keep none >/dev/null
                    not test -e "$STATE/tree"
                    cp -a "$HERE/before" "$SRC"
                done
                """)
        }
    }
}
