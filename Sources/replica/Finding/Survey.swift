import Foundation
import ReplicaControl

/// Asks the daemons of several domains at once, none of which holds up the others or the caller.
enum Survey {
    /// What `body` says of each domain, in their order.
    /// - Parameters:
    ///   - seconds: How long is waited for all of them; one that has not answered by then does not answer.
    ///   - body: Runs on a thread of its own for each domain, and may be left behind there.
    static func ask<Value: Sendable>(
        _ domains: [DomainLocation], seconds: Double, _ body: @escaping @Sendable (DomainLocation) throws -> Value
    ) -> [Result<Value, any Error>] {
        let answers = Answers<Value>(count: domains.count)
        for (index, domain) in domains.enumerated() {
            Thread.detachNewThread { answers.take(Result { try body(domain) }, at: index) }
        }
        let silence = ControlFailure(.timedOut, DaemonProbe.silence)
        return answers.wait(until: Date(timeIntervalSinceNow: seconds)).map { $0 ?? .failure(silence) }
    }

    private final class Answers<Value: Sendable>: @unchecked Sendable {  // The condition guards what varies.
        private let condition = NSCondition()
        private var results: [Result<Value, any Error>?]

        init(count: Int) { results = Array(repeating: nil, count: count) }

        func take(_ result: Result<Value, any Error>, at index: Int) {
            condition.lock()
            defer { condition.unlock() }
            results[index] = result
            condition.broadcast()
        }

        func wait(until end: Date) -> [Result<Value, any Error>?] {
            condition.lock()
            defer { condition.unlock() }
            while results.contains(where: { $0 == nil }), condition.wait(until: end) {}
            return results
        }
    }
}
