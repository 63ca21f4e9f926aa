import Testing

/// Filesystems mounted below an imported directory, or below a removed domain, are not touched.
@Suite struct MountsBelowTests {
    @Test func aDirectoryThatContainsAMountIsNotImported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir -p "$SRC/a/b" "$HERE/outside"; echo precious >"$HERE/outside/file"; touch "$SRC/a/f"
                look() { find "$SRC" -printf '%i %m %s %T@ %p\\n' | sort; }
                bad() {
                    local before; before=$(look)
                    refused 11 "mount below, $1" replica import d "$SRC" --store "file://$STORE"
                    equal "$(look)" "$before"
                    prints "" replica list
                    umount "$1"
                }
                mount --bind "$HERE/outside" "$SRC/a/b"; bad "$SRC/a/b"
                mount -t tmpfs none "$SRC/a/b"; bad "$SRC/a/b"
                mount --bind "$HERE/outside/file" "$SRC/a/f"; bad "$SRC/a/f"
                mount --bind "$SRC" "$SRC"
                refused 11 "mountpoint" replica import d "$SRC" --store "file://$STORE"
                umount "$SRC"
                content_is "$HERE/outside/file" precious
                import_it; settle
                """)
        }
    }

    @Test func mountsInTheStateAreNotRemoved() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir -p "$SRC/a/b" "$HERE/outside/sub"; echo precious >"$HERE/outside/sub/file"
                begin; settle
                for keep in none downloaded dirty; do
                    mount --bind "$HERE/outside" "$TREE/a/b"
                    refused 12 "unmount it first" replica remove d --keep $keep
                    is_mounted
                    umount "$TREE/a/b"
                done
                replica unmount d; no_daemon
                mount --bind "$HERE/outside" "$TREE/a/b"
                refused 12 "unmount it first" replica remove d --keep none
                umount "$TREE/a/b"
                replica remove d --keep none
                content_is "$HERE/outside/sub/file" precious
                """)
        }
    }

    /// A daemon empties folders of its state when it starts.
    @Test func aDomainWithAMountInItsStateIsNotServed() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir -p "$SRC/a/b" "$HERE/outside"; echo precious >"$HERE/outside/file"
                begin; settle; replica unmount d; no_daemon
                for place in "$STATE/staging" "$TREE/a/b"; do
                    mount --bind "$HERE/outside" "$place"
                    refused 32 "$place is a mount below the domain's state: unmount it first" replica mount d "$MNT"
                    no_daemon
                    umount "$place"
                done
                content_is "$HERE/outside/file" precious
                mount_it; same
                refused 32 "is in the state of a domain" mount_replica other "$STATE/staging" -o "store=file://$HERE/outside"
                """)
        }
    }

    /// What is mounted in the tree of a domain that is being served is neither shown nor removed.
    @Test func aMountInTheTreeIsNotEntered() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir -p "$SRC/a/b" "$HERE/outside"; echo precious >"$HERE/outside/file"; echo mine >"$SRC/a/b/file"
                begin; settle; replica unmount d; no_daemon; mount_it
                mount --bind "$HERE/outside" "$TREE/a/b"
                # Without a descriptor of the folder below, it is EBUSY.
                got=$(cat "$MNT/a/b/file" 2>&1) || true
                case $got in mine | *busy*) ;; *) fail "$got" ;; esac
                rm -r "$MNT/a/b" 2>/dev/null || true
                content_is "$HERE/outside/file" precious
                umount "$TREE/a/b"
                settle; same
                """)
        }
    }

    /// A local deletion stops at a mount in the store.
    @Test func mountsInTheStoreAreNotDeleted() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir -p "$STORE/a/b" "$HERE/outside/sub"; echo precious >"$HERE/outside/sub/file"; echo x >"$STORE/a/x"
                mount --bind "$HERE/outside" "$STORE/a/b"
                replica add d --store "file://$STORE"; mount_it
                equal "$(ls "$MNT/a")" x
                rm -r "$MNT/a"
                timeout 60 "$BIN/replica" wait d --timeout 50 || true
                content_is "$HERE/outside/sub/file" precious
                mountpoint -q "$STORE/a/b"
                eventually umount "$STORE/a/b"
                """)
        }
    }
}
