import Testing

/// How requests come from the kernel: by reading the device, or by io_uring if the kernel offers it.
@Suite struct TransportTests {
    @Test func ioUringIsUsedIfTheKernelOffersIt() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin
                echo fine >"$MNT/file"
                content_is "$MNT/file" fine
                # Absent before Linux 6.14.
                offered=$(cat /sys/module/fuse/parameters/enable_uring 2>/dev/null || echo N)
                rings=$(ls -l "/proc/$(daemon)/fd" | grep -c 'anon_inode:\\[io_uring\\]' || true)
                case $offered in
                    Y) [ "$rings" -gt 0 ] || fail "offered and not used" ;;
                    *) equal "$rings" 0 ;;
                esac
                """)
        }
    }

    @Test func programsOnProcessorsForbiddenToTheDaemonAreServed() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; end_daemon
                all=$(taskset -cp $$ | sed 's/.*: //')
                first=${all%%[,-]*}
                taskset -cp "$first" $$ >/dev/null
                mount_it
                taskset -cp "$all" $$ >/dev/null
                for processor in $(seq 0 $(($(nproc --all) - 1))); do
                    taskset -c "$processor" true 2>/dev/null || continue
                    taskset -c "$processor" sh -c "seq 1000 >$MNT/of$processor; mv $MNT/of$processor $MNT/by$processor"
                    equal "$(taskset -c "$processor" sh -c "cat $MNT/by* | tail -n 1")" 1000
                done
                settle; same
                """)
        }
    }

    /// The daemon waits for its own mount when it presents the store's changes there.
    @Test func aKilledDaemonExitsDuringAnyWait() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; mkdir "$MNT/d"; settle
                touch going
                (n=0; while [ -e going ]; do
                    n=$((n + 1))
                    mkdir "$STORE/d/$n"; echo "$n" >"$STORE/d/$n/file"; mv "$STORE/d/$n" "$STORE/d/moved$n"; rm -r "$STORE/d/moved$n"
                    [ $((n % 20)) != 0 ] || sleep 0.02
                done) &
                (while [ -e going ]; do ls -l "$MNT/d" >/dev/null 2>&1 || sleep 0.01; done) &
                for kill in $(seq 15); do
                    sleep "0.$((kill % 3 + 2))"
                    kill_daemon
                    mount_it
                done
                rm going; wait
                settle; same
                """)
        }
    }
}
