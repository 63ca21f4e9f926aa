import Testing

/// Rewrites in the store that restore size and modification time, so that the content version stays the same.
@Suite struct RestoredTimeTests {
    private static let words = """
        # A daemon that looked between the two would see another time.
        unseen() {
            local pid; pid=$(daemon)
            [ -z "$pid" ] || kill -STOP "$pid"
            "$@"
            [ -z "$pid" ] || kill -CONT "$pid"
        }
        write() { echo "$1" >"$STORE/file"; touch -d @1000 "$STORE/file"; }
        rewrite() { unseen write "$1"; }
        version() { replica status d:file --json | grep -o '"version":{[^}]*}' | grep -o '"content":"[^"]*"'; }
        begin_with() {
            echo aaaa >"$SRC/file"
            begin; settle
            rewrite aaaa
            eventually eval '[ "$(stat -c %Y "$MNT/file")" = 1000 ]'
            settle
        }

        """

    private func run(_ script: String) async throws {
        try await Trial.run { trial in try await trial.shell(Self.words + script) }
    }

    @Test func aRewriteWithItsOldTimeIsDownloaded() async throws {
        try await run(
            """
            begin_with; before=$(version)
            for text in bbbb cccc dddd; do
                rewrite $text
                eventually content_is "$MNT/file" $text
            done
            equal "$(version)" "$before"
            equal "$(stat -c %Y "$MNT/file")" 1000
            settle; same
            """)
    }

    @Test func aRewriteDuringAStopIsDownloaded() async throws {
        try await run(
            """
            begin_with
            unmount_it
            rewrite bbbb
            mount_it
            eventually content_is "$MNT/file" bbbb
            settle; same
            """)
    }

    @Test func openFilesKeepTheOldBytes() async throws {
        try await run(
            """
            begin_with
            exec 3<"$MNT/file"
            rewrite bbbb
            eventually content_is "$MNT/file" bbbb
            equal "$(cat <&3)" aaaa
            """)
    }

    @Test func anUnsentEditBecomesAConflictCopy() async throws {
        try await run(
            """
            begin_with
            replica disconnect d --reason test >/dev/null
            echo mine >"$MNT/file"
            rewrite bbbb
            replica connect d >/dev/null
            settle
            equal "$(cat "$STORE/file")" bbbb
            equal "$(cat "$MNT/file")" bbbb
            equal "$(cat "$MNT/file (conflict"*)" mine
            same
            """)
    }

    @Test func equalContentIsNotReplaced() async throws {
        try await run(
            """
            begin_with
            inode=$(stat -c %i "$TREE/file")
            chmod 600 "$STORE/file"
            eventually eval '[ "$(stat -c %a "$MNT/file")" = 600 ]'
            rewrite aaaa; settle
            touch -d @1000 "$STORE/file"; settle
            chmod 644 "$STORE/file"
            eventually eval '[ "$(stat -c %a "$MNT/file")" = 644 ]'
            settle
            equal "$(stat -c %i "$TREE/file")" "$inode"
            same
            """)
    }

    /// A partially local file is never read as a mixture of both.
    @Test func oldAndNewRangesAreNotMixed() async throws {
        try await run(
            """
            make() { head -c 4194304 /dev/zero | tr '\\0' "$1" >"$STORE/big"; touch -d @1000 "$STORE/big"; }
            letters() { tr -s ab <"$MNT/big" 2>/dev/null || true; }
            only() { [ "$(letters)" = "$1" ]; }
            make a
            begin; settle
            for letter in b a b a b; do
                replica evict d:big >/dev/null
                head -c 4096 "$MNT/big" >/dev/null
                unseen make $letter
                for n in 1 2 3; do
                    found=$(letters)
                    case $found in a | b | "") ;; *) fail "a mixture: $found" ;; esac
                done
                eventually only $letter
                settle
            done
            """)
    }
}
