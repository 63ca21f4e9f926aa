import Testing

/// The disk fails to change the mark that tells a placeholder from a file: neither is taken for the other, then or after a crash.
@Suite struct FailedMarkTests {
    private let words = #"""
        # while_failing "CALL:error=ERROR..." COMMAND...: such calls of the daemon fail meanwhile. Sets `code` to how the command ended.
        while_failing() {
            local calls=() call
            for call in $1; do calls+=(-e "inject=$call"); done
            shift
            rm -f calls; strace -f -qq -o calls -p "$(daemon)" "${calls[@]}" 2>/dev/null &
            tracer=$!
            # Its threads are attached to one by one.
            is_traced() { [ "$(cat "/proc/$(daemon)/task"/*/status 2>/dev/null | grep -c "TracerPid:.0$")" = 0 ]; }
            eventually is_traced
            code=0; "$@" >said 2>&1 || code=$?
            kill "$tracer"; wait "$tracer" || true
            grep -q INJECTED calls
        }
        kill_and_mount() { kill_daemon; umount -l "$MNT"; mount_it; }

        """#

    /// Then what is written later would be lost, or the file read as zeros.
    @Test(arguments: [
        "fallocate:error=ENOSPC", "utimensat:error=EIO", "setxattr:error=EIO:when=2",
        "fallocate:error=EOPNOTSUPP ftruncate:error=EIO:when=2", "fallocate:error=ENOSPC removexattr:error=EIO",
    ])
    func anEvictionFailsWhole(calls: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + """
                    head -c 20000 /dev/urandom >"$SRC/f"; touch -d 2020-01-01 "$SRC/f"
                    begin; settle; cp -p "$STORE/f" whole
                    while_failing "\(calls)" replica evict "$MNT/f"
                    cmp "$MNT/f" whole
                    stat -c '%s %Y' whole >stamp; prints "$(cat stamp)" stat -c '%s %Y' "$MNT/f"
                    echo edited >>"$MNT/f"; echo edited >>whole
                    kill_and_mount
                    cmp "$MNT/f" whole; settle; cmp "$STORE/f" whole
                    """)
        }
    }

    @Test func aPlaceholderThatStaysOneIsNotWritten() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + """
                    head -c 20000 /dev/urandom >"$SRC/f"; begin; settle; cp "$STORE/f" whole
                    rewrite() { echo new >"$MNT/f"; }
                    cut() { truncate -s 0 "$MNT/f"; }
                    for change in rewrite cut; do
                        replica evict "$MNT/f" >/dev/null
                        while_failing removexattr:error=EIO $change; test "$code" != 0
                        has said "nput/output error"
                        cmp "$MNT/f" whole
                        replica evict "$MNT/f" >/dev/null
                        while_failing removexattr:error=EIO $change; test "$code" != 0
                        kill_and_mount
                        cmp "$MNT/f" whole; settle; cmp "$STORE/f" whole
                    done
                    replica evict "$MNT/f" >/dev/null
                    rewrite; kill_and_mount; settle; content_is "$STORE/f" new; content_is "$MNT/f" new
                    """)
        }
    }
}
