import Testing

/// What happens while a mount is being made: here by a daemon that serves its domain already, held in move_mount(2).
@Suite struct SlowMountTests {
    private let words = #"""
        # begin_slow_mount: `go_on` lets it continue.
        begin_slow_mount() {
            import_it; settle; daemon=$(daemon)
            strace -f -qq -o calls -p "$daemon" -e trace=move_mount -e inject=move_mount:delay_enter=900000000:when=1 &
            tracer=$!
            eventually grep -q '^TracerPid:.[1-9]' "/proc/$daemon/status"
            replica mount d "$MNT" >said 2>&1 &
            mounter=$!
            eventually is_held
        }
        # The number is move_mount's on all processors.
        is_held() { grep -qs '^429 ' "/proc/$daemon"/task/*/syscall; }
        go_on() { kill -KILL "$tracer"; wait "$tracer" || true; }

        """#

    @Test func aDaemonThatIsEndedMeanwhileLeavesNoDeadMount() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    echo one >"$SRC/file"; begin_slow_mount
                    kill -TERM "$daemon"; sleep 0.2
                    go_on; wait "$mounter" || true
                    eventually free_lock
                    not is_mounted
                    mount_it; content_is "$MNT/file" one
                    """#)
        }
    }

    @Test func nothingElseChangesTheMountMeanwhile() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    echo one >"$SRC/file"; begin_slow_mount
                    mkdir other
                    refused 32 "d is being mounted: try again" replica mount d other
                    refused 12 "d is being mounted: try again" replica unmount d
                    refused 12 "d is being mounted: try again" replica remove d
                    go_on; wait "$mounter"
                    content_is "$MNT/file" one
                    unmount_it; not is_mounted
                    """#)
        }
    }
}
