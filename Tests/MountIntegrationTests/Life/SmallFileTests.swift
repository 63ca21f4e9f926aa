import Testing

/// Files in an unprivileged user's mount that are not registered with `replica-passthrough`, next to files that are.
@Suite struct SmallFileTests {
    @Test func readingASmallFileRegistersNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                PassthroughProgramTests.words(.capability) + #"""
                    as_replicatest <<'END'
                    BIN=$HERE/prefix/sbin
                    for n in $(seq 50); do echo "$n" >"$SRC/f$n"; done
                    head -c 131071 /dev/urandom >"$SRC/less"; head -c 131072 /dev/urandom >"$SRC/enough"
                    cp "$SRC/less" "$SRC/enough" .
                    begin
                    cat "$MNT"/f* | sort -n | cmp - <(seq 50); cmp less "$MNT/less"
                    # Nothing was registered: the program is started for the first file that is.
                    prints "" helpers
                    exec 5<"$MNT/enough"
                    helper=$(helpers)
                    # How often it has gone to sleep: once more for each message.
                    asked() { awk '/^voluntary/ { print $2 }' "/proc/$helper/status"; }
                    sleeps() { [ "$(awk '/^State/ { print $2 }' "/proc/$helper/status")" = S ]; }
                    eventually sleeps; before=$(asked)
                    cat "$MNT"/f* "$MNT/less" >/dev/null
                    prints "$before" asked
                    # A writer may write much, and who reads beside it does so in the same way.
                    exec 6<>"$MNT/f1"; eventually sleeps; during=$(asked)
                    not equal "$during" "$before" 2>/dev/null
                    content_is "$MNT/f1" 1; prints "$during" asked
                    # Both are of the kernel alone, but for the first write, which asks for capabilities. A shell would ask for the
                    # files' attributes.
                    printf 1 >&6
                    kill -STOP "$(daemon)"
                    python=$(command -v /usr/bin/python3 || command -v python3)
                    timeout -s KILL 120 "$python" -c 'import os
                    assert os.pread(5, 131072, 0) == open("enough", "rb").read()
                    os.pwrite(6, b"2", 0)'
                    kill -CONT "$(daemon)"
                    content_is "$MNT/f1" 2
                    exec 5<&- 6<&-
                    settle; same; unmount_it
                    END
                    """#)
        }
    }

    /// Opened in any order, small and large files behave like plain ones: served by the daemon through the page cache,
    /// by the kernel directly, and alternately.
    @Test(arguments: 1...3) func aFileReadsTheSameOnBothPaths(seed: Int) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                PassthroughProgramTests.words(.capability) + #"""
                    as_replicatest <<'END'
                    BIN=$HERE/prefix/sbin
                    begin
                    cat >opens.py <<'PYTHON'
                    \#(Self.opens)
                    PYTHON
                    python=$(command -v /usr/bin/python3 || command -v python3)
                    "$python" opens.py "$MNT/file" "$HERE/plain" \#(seed)
                    equal "$(helpers | wc -l)" 1
                    cmp "$MNT/file" plain; settle; same; cmp "$STORE/file" plain
                    unmount_it
                    END
                    """#)
        }
    }

    private static let opens = #"""
        import mmap, os, random, sys
        paths, dice = sys.argv[1:3], random.Random(int(sys.argv[3]))
        kinds = [os.O_RDONLY, os.O_RDONLY, os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_RDWR | os.O_TRUNC]
        sizes = [0, 1, 4096, 5000, 100000, 131071, 131072, 131073, 200000, 300000]
        opened, saved = [], {}

        def both(call):
            """What a call gives on the mount's file and on the plain one, which is the same."""
            results = [call(which) for which in (0, 1)]
            assert results[0] == results[1], (step, what, [len(r) if isinstance(r, bytes) else r for r in results])
            return results[1]

        def store(which, file, at, bytes):
            with mmap.mmap(file[which], 0) as pages: pages[at:at + len(bytes)] = bytes

        def look(which, file):
            with mmap.mmap(file[which], 0, prot=mmap.PROT_READ) as pages: return pages[:]

        for path in paths: open(path, "wb").close()
        for step in range(2000):
            what = dice.choice(["open", "open", "close", "close", "read", "read", "write", "append", "cut", "store", "look", "path"])
            if what == "open" and len(opened) < 4:
                kind = dice.choice(kinds)
                opened.append((kind, [os.open(path, kind) for path in paths]))
            elif what == "cut":
                size = dice.choice(sizes)
                both(lambda which: os.truncate(paths[which], size))
            elif what == "path":
                both(lambda which: open(paths[which], "rb").read())
            elif opened:
                index = dice.randrange(len(opened))
                kind, file = opened[index]
                size = both(lambda which: os.fstat(file[which]).st_size)
                if what == "close":
                    del opened[index]
                    both(lambda which: os.close(file[which]))
                elif what == "read":
                    at, count = dice.choice(sizes), dice.choice(sizes)
                    both(lambda which: os.pread(file[which], count, at))
                elif what == "look" and size > 0:
                    both(lambda which: look(which, file))
                elif kind & os.O_ACCMODE == os.O_RDWR:
                    bytes = dice.randbytes(dice.choice([1, 100, 5000, 70000]))
                    at = dice.randrange(size) if what == "store" and size > 0 else dice.choice(sizes)
                    if what == "store" and size > 0: both(lambda which: store(which, file, at, bytes[:size - at]))
                    elif what in ("write", "append"): both(lambda which: os.pwrite(file[which], bytes, at))
        for _, file in opened: both(lambda which: os.close(file[which]))
        """#
}
