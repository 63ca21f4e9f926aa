import Glibc
import Testing

@testable import mount_replica

/// What ends a daemon. One test: signals belong to the whole process.
@Suite struct DaemonEndTests {
    @Test func signalsAndReasonsEndTheWait() async throws {
        let end = DaemonEnd()
        for reason in [DaemonEnd.Reason.unmounted, .requested, .signal(SIGTERM)] {
            end.end(reason)
            #expect(try await onThread { end.wait() } == reason)
        }
        for signal in [SIGTERM, SIGHUP, SIGINT] {
            kill(getpid(), signal)
            #expect(try await onThread { end.wait() } == .signal(signal))
        }
    }
}
