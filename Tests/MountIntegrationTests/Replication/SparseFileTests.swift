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

    /// Programs take a file without blocks for one that has only holes: tar(1) then does not read it.
    @Test func tarReadsWhatIsNotHere() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                head -c 300000 /dev/urandom >"$SRC/large"; head -c 3000 /dev/urandom >"$SRC/small"; echo few >"$SRC/few"
                : >"$SRC/empty"; truncate -s 1M "$SRC/holes"; cp -r "$SRC" "$HERE/copy"
                begin; settle; replica evict "$MNT" >/dev/null
                for name in large small few holes; do equal "$(stat -c %b "$MNT/$name")" 1; done
                equal "$(stat -c %b "$MNT/empty")" 0; equal "$(stat -c %b "$TREE/large")" 0
                tar -C "$MNT" -cSf "$HERE/a.tar" .; mkdir "$HERE/x"; tar -C "$HERE/x" -xf "$HERE/a.tar"
                diff -r "$HERE/x" "$HERE/copy"
                # Ranges of a file.
                head -c 3000000 /dev/urandom >"$HERE/copy/parts"; cp "$HERE/copy/parts" "$STORE/parts"
                arrived() { [ -e "$MNT/parts" ]; }; eventually arrived
                dd if="$MNT/parts" of=/dev/null bs=4096 count=1 skip=400 status=none
                tar -C "$MNT" -cSf "$HERE/a.tar" parts; tar -C "$HERE/x" -xf "$HERE/a.tar"
                cmp "$HERE/x/parts" "$HERE/copy/parts"
                """)
        }
    }

    /// Downloading and evicting are no changes of a file: for tar(1), which compares the change time before and after it has read
    /// a file, and for backups, which compare it with that of the last backup.
    @Test func theChangeTimeIsThatOfTheFile() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                head -c 3000000 /dev/urandom >"$SRC/file"; cp "$SRC/file" "$HERE/copy"; file=$MNT/file
                begin; settle
                same() { equal "$(stat -c %z "$file")" "$changed"; }
                other() { [ "$(stat -c %z "$file")" != "$changed" ] || fail "$1 does not change it"; changed=$(stat -c %z "$file"); }
                changed=$(stat -c %z "$file")
                replica evict "$file" >/dev/null; same
                dd if="$file" of=/dev/null bs=4096 count=1 skip=400 status=none; same
                chmod 600 "$file"; other chmod
                settle; same; replica evict "$file" >/dev/null; same; setfattr -n user.a -v b "$file"; other setfattr
                mv "$file" "$MNT/moved"; file=$MNT/moved; other mv
                tar -C "$MNT" -cf "$HERE/a.tar" moved 2>"$HERE/said" || fail "$(cat "$HERE/said")"
                same; cmp "$file" "$HERE/copy"
                settle; replica evict "$file" >/dev/null; same; cat "$file" >/dev/null; same
                echo more >>"$file"; other append; settle; same
                """)
        }
    }
}
