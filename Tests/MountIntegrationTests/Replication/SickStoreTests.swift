import Testing

/// A failing store blocks no program, is shown in the status, and is synced when it works again.
@Suite struct SickStoreTests {
    @Test func aMissingDirectoryDeletesNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo one >"$SRC/one"
                begin; settle
                mv "$STORE" away
                echo two >"$MNT/two"; echo more >>"$MNT/one"; mkdir "$MNT/d"; mv "$MNT/two" "$MNT/d/two"
                offline() { replica status d --json | grep -q '"state":"offline"'; }
                eventually offline
                replica status d --json | grep -q '"reason":"'
                content_is "$MNT/d/two" two; equal "$(ls "$MNT" | tr '\\n' ' ')" "d one "
                mv away "$STORE"; replica retry d
                settle; same
                """)
        }
    }

    @Test func anEmptyDirectoryInItsPlaceDeletesNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                for n in $(seq 20); do echo "$n" >"$SRC/f$n"; done
                begin; settle; unmount_it
                mv "$STORE" away; mkdir "$STORE"
                mount_it
                said() { replica status d --json | grep -q '"reason":"'; }
                eventually said
                equal "$(ls "$MNT" | wc -l)" 20; prints "" ls -A "$STORE"
                rmdir "$STORE"; mv away "$STORE"; replica retry d
                settle; same; equal "$(ls "$MNT" | wc -l)" 20
                """)
        }
    }

    /// After a kill everything is listed again: an empty directory does not count as a listing.
    @Test(arguments: [true, false]) func aReplacedDirectoryGetsNothingAfterAKill(_ isKilled: Bool) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                for n in $(seq 20); do echo "$n" >"$SRC/f$n"; done
                begin; settle
                replica disconnect d --reason test
                for n in $(seq 20); do mkdir "$MNT/d$n"; echo "$n" >"$MNT/d$n/f"; done
                echo edited >"$MNT/f3"; rm "$MNT/f4"
                replica connect d
                if \(isKilled); then kill_daemon; else unmount_it; fi
                mv "$STORE" away; mkdir "$STORE"
                mount_it
                said() { case $(replica status d) in *"replica approve"*) ;; *) return 1 ;; esac; }
                for n in 1 2 3; do eventually said; replica retry d; done
                prints "" ls -A "$STORE"; equal "$(ls "$MNT" | wc -l)" 39; content_is "$MNT/f3" edited
                rmdir "$STORE"; mv away "$STORE"; replica retry d
                settle; same; equal "$(ls "$MNT" | wc -l)" 39
                """)
        }
    }

    /// Store directories are exchanged while programs write: each file stays in its domain.
    @Test func aDirectoryGetsNothingWhileItIsReplaced() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo one >"$SRC/one"; mkdir other; echo other >other/other
                begin; settle
                (for n in $(seq 150); do mkdir "$MNT/d$n"; echo "$n" >"$MNT/d$n/f"; sleep 0.02; done) &
                for n in $(seq 12); do
                    mv "$STORE" away; mv other "$STORE"; sleep 0.12; mv "$STORE" other; mv away "$STORE"; sleep 0.17
                done
                wait; replica retry d; settle; same
                prints other ls -A other; equal "$(ls "$MNT" | wc -l)" 151
                """)
        }
    }

    /// The store's disk image is replaced by an older copy: newer local content stays.
    @Test func anOlderStateDeletesNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                disk() { mount -o loop "$1" "$STORE"; }
                # The kernel has written all of it when no loop device has it any more.
                unused() { case $(losetup --noheadings --output BACK-FILE) in *"$HERE/"*) return 1 ;; esac; }
                no_disk() { eventually umount "$STORE"; eventually unused; }
                truncate -s 32M image; mkfs.ext4 -q -F -I 256 image; disk image; rmdir "$STORE/lost+found"
                begin; echo one >"$MNT/one"; settle; unmount_it
                no_disk; cp image older; disk image; mount_it
                for n in 1 2 3 4 5; do echo "$n" >"$MNT/new$n"; done
                settle; unmount_it
                no_disk; disk older; mount_it
                said() { case $(replica status d) in *"older state"*"replica approve"*) ;; *) return 1 ;; esac; }
                eventually said
                echo six >"$MNT/new6"; replica retry d; sleep 1
                equal "$(ls "$MNT" | wc -l)" 7; prints one ls "$STORE"
                no_disk; disk image; replica retry d
                settle; same; equal "$(ls "$MNT" | wc -l)" 7
                umount -l "$STORE"
                """)
        }
    }

    @Test func anotherDirectoryIsUsedAfterApproval() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                for n in $(seq 20); do echo "$n" >"$SRC/f$n"; done
                begin; settle; unmount_it
                mv "$STORE" away; mkdir "$STORE"; echo there >"$STORE/there"
                mount_it
                said() { case $(replica status d) in *"replica approve"*) ;; *) return 1 ;; esac; }
                eventually said
                echo edited >"$MNT/f3"
                replica approve d
                settle; same; content_is "$MNT/there" there; content_is "$MNT/f3" edited
                equal "$(ls "$MNT" | wc -l)" 2
                """)
        }
    }

    @Test func aReadOnlyDirectoryIsReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo one >"$SRC/one"
                import_it; settle; end_daemon
                mount --bind "$STORE" "$STORE"; mount -o remount,bind,ro "$STORE"
                mount_it
                echo two >"$MNT/two"; echo three >"$MNT/one"
                said() { replica status d --json | grep -qE '"errors":[1-9]|"reason":"'; }
                eventually said
                content_is "$MNT/two" two
                mount -o remount,bind,rw "$STORE"; replica retry d
                settle; same
                """)
        }
    }

    @Test func aFullDirectoryIsReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mount -t tmpfs -o size=2m none "$STORE"
                begin; settle
                head -c 1500000 /dev/urandom >"$MNT/a"; settle
                head -c 1500000 /dev/urandom >"$MNT/b"; echo small >"$MNT/c"
                said() { replica status d --json | grep -qE '"errors":[1-9]|"reason":"'; }
                eventually said
                cmp "$MNT/a" "$STORE/a"; equal "$(stat -c %s "$MNT/b")" 1500000
                mount -o remount,size=8m "$STORE"; replica retry d
                settle; same
                prints "" find "$STORE" -name '.replica-tmp-*'
                """)
        }
    }
}
