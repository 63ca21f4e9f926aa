import ReplicaControl
import Threads

/// Queries the daemons of several domains concurrently; none of them blocks the others or the caller.
enum DaemonSurvey {
    /// The results of `body` for the domains, in their order.
    /// - Parameters:
    ///   - seconds: The timeout for all of them together.
    ///   - body: Runs on a separate thread for each domain, and may be abandoned there.
    static func ask<Value: Sendable>(
        _ domains: [DomainLocation], seconds: Double, _ body: @escaping @Sendable (DomainLocation) throws -> Value
    ) -> [Result<Value, any Error>] {
        let answers = Gate([Result<Value, any Error>?](repeating: nil, count: domains.count))
        for (index, domain) in domains.enumerated() {
            let isStarted = Thread.run {
                let answer = Result { try body(domain) }
                answers.withLock { $0[index] = answer }
            }
            if !isStarted {
                answers.withLock {
                    $0[index] = .failure(ControlFailure(.failed, "no thread could be created to query it"))
                }
            }
        }
        let silence = ControlFailure(.timedOut, DaemonProbe.silence)
        return answers.wait(
            seconds: seconds, until: { !$0.contains { $0 == nil } },
            { answers, _ in answers.map { $0 ?? .failure(silence) } })
    }
}
