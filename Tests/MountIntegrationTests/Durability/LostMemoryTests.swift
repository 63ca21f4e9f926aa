import Testing

/// Power cuts: a disk image contains what was written to it, without the kernel's dirty pages.
@Suite struct LostMemoryTests {
    /// Proves that the other tests can fail.
    @Test func unsyncedDataIsLost() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data
                echo whole >data/synced; sync data/synced
                echo lost >data/unsynced; mkdir data/kept
                force_journal data; cut_power data
                content_is data/synced whole; test -d data/kept
                equal "$(stat -c %s data/unsynced)" 0
                """)
        }
    }

    /// A tree that was mounted again may have lost files that the database knows: files missing from it were not
    /// removed.
    @Test func dataLostByTheDiskIsNotDeletedInTheStore() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir data/src; echo old >data/src/old; SRC=$HERE/data/src
                begin; settle; sync -f "$STATE"
                mkdir "$MNT/d"; echo precious >"$MNT/d/doc"
                sent() { content_is "$STORE/d/doc" precious; }
                eventually sent; settle
                cp "$STATE"/replica.db* .
                cut_power data
                # Nothing that the tree got is on the disk, and all that the database says is.
                rm -rf "$STATE/tree/d"; cp replica.db* "$STATE/"
                mount_it; settle; same
                content_is "$MNT/d/doc" precious; content_is "$STORE/d/doc" precious
                """)
        }
    }

    /// A file's size and times are on the disk, but its bytes are not.
    @Test(arguments: [true, false])
    func anEmptiedFileNeverReplacesTheStoresContent(_ isWaitedFor: Bool) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir data/src; SRC=$HERE/data/src
                begin; settle
                for n in 1 2 3; do head -c 20000 /dev/urandom >"doc$n"; cp "doc$n" "$MNT/"; done
                sent() { same >/dev/null 2>&1; }
                \(isWaitedFor ? "settle" : "eventually sent")
                # The database knows it all; the bytes of the files are in memory only.
                sync "$STATE"/replica.db-wal
                cut_power data
                \(isWaitedFor ? "" : "equal \"$(find \"$TREE\" -name 'doc*' -size +0 | wc -l)\" 0")
                mount_it; for n in 1 2 3; do cmp "doc$n" "$MNT/doc$n"; done
                settle; same
                for n in 1 2 3; do cmp "doc$n" "$MNT/doc$n"; cmp "doc$n" "$STORE/doc$n"; done
                equal "$(ls "$MNT" | wc -l)" 3
                """)
        }
    }

    /// The guarantee of `replica wait` for a domain whose store is on the same disk.
    @Test(arguments: ["d", "\"$MNT/files\""]) func contentIsCompleteOnOneSideAfterAWait(what: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir data/src data/store; SRC=$HERE/data/src; STORE=$HERE/data/store
                begin; settle
                mkdir files; for n in $(seq 100); do echo "content $n" >"files/f$n"; done
                cp -r files "$MNT/"
                replica wait \(what) >/dev/null
                force_journal data; cut_power data
                mount_it; diff -r files "$MNT/files"; settle; same; diff -r files "$STORE/files"
                """)
        }
    }

    /// The filesystem keeps the new size and time of an append, but not its bytes.
    @Test func zerosInTheTailAreNotServed() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir data/src; SRC=$HERE/data/src
                begin; settle
                head -c 9000 /dev/urandom >log; cp log "$MNT/log"; settle
                head -c 9000 /dev/urandom >more; cat more >>log; cat more >>"$MNT/log"
                sent() { cmp -s log "$STORE/log"; }
                eventually sent
                sync "$STATE"/replica.db-wal
                touch -r "$TREE/log" times
                cut_power data
                # As ext4 leaves it now and then.
                truncate -s 9000 "$TREE/log"; truncate -s 18000 "$TREE/log"; touch -r times "$TREE/log"
                mount_it; cmp log "$MNT/log"; settle; same; cmp log "$MNT/log"
                equal "$(ls "$MNT" | wc -l)" 1
                """)
        }
    }

    /// The same for its attributes.
    @Test func syncedFilesKeepTheirModes() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir -p data/src/d; SRC=$HERE/data/src
                begin; settle; echo one >"$MNT/f"; settle; mv store away
                chmod 640 "$MNT/f"; chmod 750 "$MNT/d"; sync "$MNT/f" "$MNT/d"
                cut_power data; mv away store
                mount_it; settle
                for place in "$MNT" "$STORE"; do
                    equal "$(stat -c %a "$place/f" "$place/d" | tr '\\n' ' ')" "640 750 "
                done
                """)
        }
    }

    /// A synced file is an edit of its item, although the database was behind: in place, or saved by a rename.
    @Test(arguments: [
        #"echo two >"$MNT/f"; sync "$MNT/f""#,
        #"echo two >"$MNT/t"; sync "$MNT/t"; mv "$MNT/t" "$MNT/f"; sync "$MNT""#,
        #"printf 'two\n' | dd of="$MNT/f" oflag=dsync conv=notrunc status=none"#,
    ])
    func syncedFilesKeepTheirNames(_ save: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir data/src; SRC=$HERE/data/src
                begin; settle
                echo one >"$MNT/f"
                sent() { content_is "$STORE/f" one; }
                eventually sent
                mv store away
                \(save)
                cut_power data
                mv away store
                content_is "$TREE/f" two
                mount_it; content_is "$MNT/f" two; settle; same
                content_is "$MNT/f" two; equal "$(ls "$MNT")" f
                """)
        }
    }

    /// `O_SYNC` promises it for each write, also for those after an upload.
    @Test func aWriterThatSyncsEachWriteLosesNone() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                disk_at data; mkdir data/src; SRC=$HERE/data/src
                begin; settle
                cat >writer <<'END'
                import os, sys, time
                file = os.open(sys.argv[1], os.O_WRONLY | os.O_SYNC | os.O_CREAT, 0o644)
                os.pwrite(file, b"A" * 9000, 0)
                open("written", "w").close()
                while not os.path.exists("go"): time.sleep(0.02)
                os.pwrite(file, bytes(9000), 0)
                open("zeroed", "w").close()
                time.sleep(1000)
                END
                python3 writer "$MNT/f" & writer=$!
                eventually test -e written
                settle
                equal "$(stat -c %s "$STORE/f")" 9000
                mv store away
                touch go; eventually test -e zeroed
                cut_power data
                kill "$writer"
                mv away store; head -c 9000 /dev/zero >zeros
                mount_it; cmp zeros "$MNT/f"; settle; same; cmp zeros "$MNT/f"
                equal "$(ls "$MNT")" f
                """#)
        }
    }

    /// What was renamed or removed, and whose folder is synced, does not come back under its first name, though the
    /// database on the disk doesn't know that the store has it.
    @Test(arguments: [
        (#"mv "$MNT/f" "$MNT/g"; sync "$MNT""#, "d d/f g "),
        (#"mv "$MNT/d" "$MNT/e"; sync "$MNT""#, "e e/f f "),
        (#"mv "$MNT/d/f" "$MNT/g"; sync "$MNT" "$MNT/d""#, "d f g "),
        (#"mv "$MNT/f" "$MNT/d/g"; sync "$MNT" "$MNT/d""#, "d d/f d/g "),
        (#"rm "$MNT/f"; sync "$MNT""#, "d d/f "),
        (#"rm -r "$MNT/d"; sync "$MNT""#, "f "),
    ])
    func syncedChangesAreNotUndone(_ change: String, _ left: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir data/src; SRC=$HERE/data/src
                begin; settle
                mkdir "$MNT/d"; echo one >"$MNT/d/f"; echo two >"$MNT/f"; sync "$MNT"/d/f "$MNT/f" "$MNT/d" "$MNT"
                sent() { content_is "$STORE/d/f" one && content_is "$STORE/f" two; }
                eventually sent
                mv store away
                \(change)
                cut_power data
                mv away store
                mount_it; settle; same
                equal "$(cd "$MNT" && find * | sort | tr '\\n' ' ')" "\(left)"
                """)
        }
    }

    /// The store has an item that was created just before, and that the database does not know.
    @Test func equalFilesAreMerged() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir data/src; SRC=$HERE/data/src
                begin; settle
                mkdir "$MNT/d"; for n in 1 2 3; do echo "content $n" >"$MNT/d/f$n"; done
                sent() { same >/dev/null 2>&1; }
                eventually sent
                sync "$TREE"/d/f* "$TREE/d"; cut_power data
                mount_it; settle; same
                equal "$(cd "$MNT" && find d | sort | tr '\\n' ' ')" "d d/f1 d/f2 d/f3 "
                """)
        }
    }

    /// A time that was sent and then lost here is restored, also for a dataless file.
    @Test func sentTimesAreRestored() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir data/src; SRC=$HERE/data/src
                echo text >data/src/f; echo text >data/src/g; mkdir data/src/d
                begin; settle
                replica evict "$MNT/g" >/dev/null
                touch -d @1000000 "$MNT/f" "$MNT/g"; settle
                cut_power data
                touch -d @2000000 "$TREE/f" "$TREE/g"
                mount_it; settle
                for name in f g; do
                    equal "$(stat -c %Y "$MNT/$name")" 1000000; equal "$(stat -c %Y "$STORE/$name")" 1000000
                done
                same
                """)
        }
    }

    @Test func connectingIsDurable() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk_at data; mkdir data/src; SRC=$HERE/data/src
                begin; settle
                replica disconnect d --reason test >/dev/null; cut_power data; mount_it
                has <(replica status d) disconnected
                replica connect d >/dev/null; cut_power data; mount_it
                echo text >"$MNT/f"; settle; same
                """)
        }
    }
}
