import Testing

/// The disk fails to change the mark that tells a placeholder from a file: neither is taken for the other, then or after a crash.
@Suite struct FailedMarkTests {
    private let words = #"""
        # while_failing CALL ERROR COMMAND...: all such calls of the daemon fail meanwhile.
        while_failing() {
            local call=$1 error=$2 code=0; shift 2
            rm -f calls; strace -f -qq -o calls -p "$(daemon)" -e "trace=$call" -e "inject=$call:error=$error" 2>/dev/null &
            tracer=$!
            is_traced() { finds_no -q "TracerPid:.0$" "/proc/$(daemon)/status"; }
            eventually is_traced
            "$@" >said 2>&1 || code=$?
            kill "$tracer"; wait "$tracer" || true
            grep -q INJECTED calls || fail "nothing failed: $call"
            return "$code"
        }
        kill_and_mount() { kill_daemon; umount -l "$MNT"; mount_it; }

        """#

    /// Then what is written later would be lost, or the file read as zeros.
    @Test(arguments: ["fallocate", "utimensat", "fallocate,ftruncate"])
    func anEvictionFailsWhole(call: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + """
                    head -c 20000 /dev/urandom >"$SRC/f"; begin; settle; cp "$STORE/f" whole
                    while_failing \(call) ENOSPC replica evict "$MNT/f" || true
                    cmp "$MNT/f" whole
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
                        while_failing removexattr EIO $change && fail "a silent success of $change"
                        has said "nput/output error"
                        cmp "$MNT/f" whole
                        replica evict "$MNT/f" >/dev/null
                        while_failing removexattr EIO $change && fail "a silent success of $change"
                        kill_and_mount
                        cmp "$MNT/f" whole; settle; cmp "$STORE/f" whole
                    done
                    replica evict "$MNT/f" >/dev/null
                    rewrite; kill_and_mount; settle; content_is "$STORE/f" new; content_is "$MNT/f" new
                    """)
        }
    }
}
