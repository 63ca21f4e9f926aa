import Foundation
import Testing

/// How the program starts its daemon in the background.
@Suite struct BackgroundTests {
    /// It has its own working directory, session, descriptors and signals, but the mountpoint may be relative.
    @Test func theDaemonInheritsNothingFromItsCaller() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                import_it; end_daemon
                exec 9>held; flock 9
                (cd "$MNT"; trap '' TERM HUP; mount_replica d "../${MNT##*/}")
                exec 9>&-
                flock -n held true || fail "the caller's descriptor is held"
                is_mounted
                pid=$(daemon)
                equal "$(readlink "/proc/$pid/cwd")" /
                equal "$(ps -o sid= -p "$pid" | tr -d ' ')" "$pid"
                equal "$(cat "/proc/$pid/comm")" mount.replica
                equal "$(readlink "/proc/$pid/fd/0")" /dev/null
                for number in 1 2; do equal "$(readlink "/proc/$pid/fd/$number")" "$STATE/daemon.log"; done
                kill -TERM "$pid"; gone "$pid"
                not is_mounted
                """#)
        }
    }

    /// No output goes to a file that happens to have the number of a standard descriptor.
    @Test func standardDescriptorsMayBeClosed() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                import_it; end_daemon
                timeout 60 "$BIN/mount.replica" d "$MNT" <&- >&- 2>&-
                is_mounted
                echo fine >"$MNT/file"
                pid=$(daemon)
                for number in 0 1 2; do
                    case $(readlink "/proc/$pid/fd/$number") in
                        /dev/null | "$STATE/daemon.log") ;;
                        *) fail "descriptor $number is $(readlink "/proc/$pid/fd/$number")" ;;
                    esac
                done
                settle; same
                """#)
        }
    }

    /// Mounts, writes and unmounts with unsent changes on busy processors. It once hung in one of several hundred
    /// attempts: `REPLICA_TEST_MOUNTS=2000` runs the long version.
    @Test func mountsManyTimesUnderLoad() async throws {
        let wanted = ProcessInfo.processInfo.environment["REPLICA_TEST_MOUNTS"].flatMap(Int.init) ?? 50
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; settle
                replica disconnect d --reason test >/dev/null
                for n in $(seq 20); do echo "$n" >"$MNT/pending$n"; done
                unmount_it
                """)
            for first in stride(from: 1, through: wanted, by: 10) {
                try await trial.shell(
                    """
                    touch going
                    for n in 1 2 3; do (while [ -e going ]; do :; done) & done
                    for n in $(seq \(first) \(min(first + 9, wanted))); do
                        mount_replica d "$MNT" || fail "mount $n"
                        content_is "$MNT/pending20" 20
                        echo "$n" >"$MNT/pending1"
                        # `replica doctor` of another test may be looking at it.
                        eventually umount "$MNT"
                        no_daemon
                    done
                    rm going; wait
                    """)
            }
            try await trial.shell(
                #"""
                mount_it
                replica connect d >/dev/null
                settle; same
                content_is "$STORE/pending1" \#(wanted)
                """#)
        }
    }
}
