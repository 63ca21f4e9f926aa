import Testing

/// A sparse file only takes the space of its data, on all sides.
@Suite struct SparseFileTests {
    @Test func holesArePreservedOnEveryPath() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                # At most this many KiB on the disk.
                small() { [ "$(($(stat -c %b "$1") / 2))" -le 8192 ] || fail "$1: $(stat -c '%b blocks of %s' "$1")"; }
                large() { [ "$(stat -c %s "$1" 2>/dev/null)" = "$2" ]; }
                piece() { dd if="$1" bs=4 skip=$2 count=1 iflag=skip_bytes status=none; }
                put() { printf %s "$2" | dd of="$1" bs=1 seek=$3 conv=notrunc status=none; }
                echo start >"$SRC/grown"; truncate -s 1T "$SRC/imported"; put "$SRC/imported" here 5000000000
                begin; settle; small "$STORE/imported"; equal "$(piece "$STORE/imported" 5000000000)" here
                # Growth by truncate, and a file with data between.
                truncate -s 128G "$MNT/grown"; put "$MNT/made" data 70000000000; truncate -s 128G "$MNT/made"; settle
                for file in grown made; do large "$STORE/$file" 137438953472; small "$STORE/$file"; done
                equal "$(piece "$STORE/made" 70000000000)" data
                # Back again by a first read of all of it.
                replica evict "$MNT/made" >/dev/null; replica download "$MNT/made" >/dev/null
                small "$TREE/made"; equal "$(piece "$MNT/made" 70000000000)" data
                # A newer content of a file that is here whole, by way of staging.
                truncate -s 100G "$HERE/new"; put "$HERE/new" news 60000000000; mv "$HERE/new" "$STORE/made"
                arrived() { large "$MNT/made" 107374182400; }; eventually arrived
                small "$TREE/made"; equal "$(piece "$MNT/made" 60000000000)" news
                # A conflict copy.
                replica disconnect d --reason test >/dev/null
                put "$MNT/made" mine 50000000000; put "$STORE/made" hers 40000000000
                replica connect d >/dev/null; settle
                copy=$(cd "$MNT"; ls -d made*conflict*)
                for file in "$TREE/$copy" "$STORE/$copy" "$TREE/made"; do small "$file"; done
                equal "$(piece "$STORE/$copy" 50000000000)" mine; equal "$(piece "$MNT/made" 40000000000)" hers
                """)
        }
    }
}
