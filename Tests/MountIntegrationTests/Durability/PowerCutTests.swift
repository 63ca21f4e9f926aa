import Testing

/// After a power cut the database may be older than the tree, or the tree older than the database.
@Suite struct PowerCutTests {
    @Test func anOlderDatabaseIsReconciledWithTheTree() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$SRC/d"; for n in $(seq 40); do echo "$n" >"$SRC/d/f$n"; done
                begin; settle; unmount_it
                cp -a "$STATE" saved
                mount_it
                echo new >"$MNT/new"; echo changed >"$MNT/d/f1"; mv "$MNT/d/f2" "$MNT/moved"; mkdir "$MNT/e"
                echo deep >"$MNT/e/file"
                settle; echo unsent >"$MNT/unsent"; kill_daemon
                umount -l "$MNT"
                cp -a "$STATE/tree" tree
                rm "$STATE"/replica.db*; cp -a saved/replica.db* "$STATE/"
                mount_it; settle; same
                diff -r tree "$MNT"
                """)
        }
    }

    @Test func anOlderTreeIsReconciledWithTheDatabase() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$SRC/d"; for n in $(seq 40); do echo "$n" >"$SRC/d/f$n"; done
                begin; settle; unmount_it
                cp -a "$STATE/tree" tree
                mount_it
                echo new >"$MNT/new"; echo changed >"$MNT/d/f1"; mkdir "$MNT/e"; echo deep >"$MNT/e/file"
                settle; same
                cp -a "$STORE" store-before
                unmount_it
                rm -r "$STATE/tree"; mv tree "$STATE/tree"
                mount_it; settle; same
                # Nothing that the store had is gone from it.
                for name in $(cd store-before && find . -type f); do
                    test -e "$STORE/$name" || fail "$name was deleted in the store"
                done
                content_is "$STORE/new" new; content_is "$STORE/e/file" deep
                content_is "$MNT/new" new; content_is "$MNT/e/file" deep
                """)
        }
    }
}
