import ReplicaControl
import Threads

/// Asks the daemons of several domains at once, none of which holds up the others or the caller.
enum Survey {
    /// What `body` says of each domain, in their order.
    /// - Parameters:
    ///   - seconds: How long is waited for all of them; one that has not answered by then does not answer.
    ///   - body: Runs on a thread of its own for each domain, and may be left behind there.
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
