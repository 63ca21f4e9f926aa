import Testing

/// A server is restored from an older backup, by the tools that people use for it.
@Suite struct RestoredServerTests {
    private static let words = """
        # Six files: three are written after the backup, two are created, one is as before.
        prepare() {
            mkdir -p storage/folder
            for name in a b folder/c same; do echo "old $name" >"storage/$name"; touch -d '2 days ago' "storage/$name"; done
            replica add d --store "sftp://server$HERE/storage" >/dev/null
            mount_it
            for name in a b folder/c same; do content_is "$MNT/$name" "old $name"; done
            cp -a storage backup
            for name in a b folder/c; do echo "newer $name" >"$MNT/$name"; done
            echo 'new d' >"$MNT/d"; echo 'new e' >"$MNT/folder/e"
            settle
            content_is storage/folder/e 'new e'; content_is storage/a 'newer a'
        }
        is_restored() {
            for name in a b folder/c; do content_is "$MNT/$name" "old $name" || return 1; done
            [ ! -e "$MNT/d" ] && [ ! -e "$MNT/folder/e" ]
        }
        newer_bytes_are_kept() {
            in_time is_restored
            settle
            diff -r "$MNT" backup
            equal "$(cat "$STATE"/kept/* | sort | tr '\\n' ',')" 'new d,new e,newer a,newer b,newer folder/c,'
            replica status d >said
            grep -qxF "  kept          5 files, in $STATE/kept" said
        }

        """

    private func run(_ script: String) async throws {
        try await Trial.run { trial in
            let words = ServerStoreTests.words + Self.words
            try await trial.shell(words + "in_namespace <<'END'\nmake_server\n\(script)\nEND")
        }
    }

    @Test func newerBytesAreKeptWhileTheDaemonRuns() async throws {
        try await run(
            """
            prepare
            rsync -a --delete backup/ storage/
            newer_bytes_are_kept
            grep -qF 'contents of the store went back to earlier dates' "$STATE/daemon.log"
            # They are the user's to remove.
            rm "$STATE"/kept/*
            not eval 'replica status d | grep -q kept'
            """)
    }

    @Test func newerBytesAreKeptAfterAStop() async throws {
        try await run(
            """
            prepare
            unmount_it
            rm -r storage/*
            cp -a backup/* storage/
            mount_it
            newer_bytes_are_kept
            """)
    }
}
