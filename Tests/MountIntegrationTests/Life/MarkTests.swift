import Testing

/// Attributes of ours that come from outside.
@Suite struct MarkTests {
    @Test func importedMarksAreNotTrusted() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir -p "$SRC/sub"
                for n in a sub/b; do echo "precious $n" >"$SRC/$n"; done
                for n in c sub/d; do echo "more $n" >"$SRC/$n"; done
                : >"$SRC/empty"; truncate -s 1M "$SRC/hole"; echo plain >"$SRC/plain"
                cp -a "$SRC" "$HERE/before"
                setfattr -n user.replica.dataless "$SRC/a" "$SRC/sub/b" "$SRC/empty" "$SRC/hole" "$SRC/sub" "$SRC"
                setfattr -n user.replica.dataless -v x "$SRC/c" "$SRC/sub/d"
                setfattr -n user.replica.epoch -v 18446744073709551615 "$SRC"
                setfattr -n user.replica.state -v dataless "$SRC/a"
                setfattr -n user.replica.item -v replica:root "$SRC/sub/d"
                setfattr -n user.replica.template -v x "$SRC/a"
                begin
                diff -r "$HERE/before" "$MNT"
                settle; same
                diff -r "$HERE/before" "$STORE"
                # Neither after a crash nor after an end in good order.
                kill_daemon; mount_it; settle
                diff -r "$HERE/before" "$MNT"; diff -r "$HERE/before" "$STORE"
                unmount_it; mount_it; settle
                diff -r "$HERE/before" "$MNT"; diff -r "$HERE/before" "$STORE"
                # It is given back and comes again as any other.
                replica evict "$MNT/a"
                equal "$(getfattr --only-values -n user.replica.state "$MNT/a")" dataless
                kill_daemon; mount_it; settle
                content_is "$MNT/a" "precious a"
                diff -r "$HERE/before" "$STORE"
                """)
        }
    }

    @Test func aMarkSetBelowTheMountIsNotTrusted() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo one >"$SRC/one"; echo two >"$SRC/two"
                begin; settle
                kill_daemon
                echo "edited below" >"$TREE/one"; echo new >"$TREE/new"
                setfattr -n user.replica.dataless "$TREE/one" "$TREE/two" "$TREE/new"
                mount_it; settle
                content_is "$MNT/one" "edited below"; content_is "$MNT/two" two; content_is "$MNT/new" new
                same
                """)
        }
    }

    @Test func aTreeOfAnotherDomainIsImportedAsItIs() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$HERE/store2" "$HERE/mnt2"
                head -c 300000 /dev/urandom >"$SRC/large"; echo small >"$SRC/small"
                begin; settle
                replica evict "$MNT/large"
                # A part of it is here, and it has its mark.
                dd if="$MNT/large" of=/dev/null bs=4k count=1 2>/dev/null
                getfattr -n user.replica.dataless "$TREE/large" >/dev/null
                mkdir "$HERE/copy"
                tar --xattrs --xattrs-include='*' -C "$TREE" -cf - . | tar --xattrs --xattrs-include='*' -C "$HERE/copy" -xf -
                getfattr -n user.replica.dataless "$HERE/copy/large" >/dev/null
                cp "$HERE/copy/large" "$HERE/bytes"
                replica import e "$HERE/copy" --store "file://$HERE/store2"
                replica mount e "$HERE/mnt2"
                timeout 60 "$BIN/replica" wait e --timeout 50
                cmp "$HERE/mnt2/large" "$HERE/bytes"; cmp "$HERE/store2/large" "$HERE/bytes"
                content_is "$HERE/store2/small" small
                umount "$HERE/mnt2"
                """)
        }
    }
}
