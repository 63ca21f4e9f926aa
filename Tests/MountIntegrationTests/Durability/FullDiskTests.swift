import Testing

/// A full disk below is an error to the caller and harms nothing.
@Suite struct FullDiskTests {
    @Test func aFullDiskBelow() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                truncate -s 24M image; mkfs.ext4 -q -F image; mkdir disk; mount -o loop image disk
                mkdir disk/src; echo keep >disk/src/keep
                replica import d "$HERE/disk/src" --store "file://$STORE"
                mount_it; settle
                got=0; for n in $(seq 40); do
                    head -c 1000000 /dev/zero | tr '\\0' "$((n % 10))" >"$MNT/big$n" 2>err || { got=$n; break; }
                done
                test $got -gt 1; grep -q "No space left" err
                for n in $(seq $((got - 1))); do equal "$(stat -c %s "$MNT/big$n")" 1000000; done
                content_is "$MNT/keep" keep
                ls "$MNT" >/dev/null
                rm "$MNT"/big*
                room() { echo text >"$MNT/after" 2>/dev/null; }
                eventually room
                settle; same; content_is "$STORE/after" text
                end_daemon; is_mounted && umount -l "$MNT"
                mount_it; content_is "$MNT/after" text; content_is "$MNT/keep" keep
                unmount_it; no_daemon; eventually umount disk
                """)
        }
    }
}
