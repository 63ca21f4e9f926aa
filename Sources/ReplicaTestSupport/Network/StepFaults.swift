internal import Threads

/// The faults of a session's requests, step by step, and a record of them.
package final class StepFaults: Sendable {
    /// Returns the fault of a request; requests are counted from 1 in each step.
    package typealias Choice = @Sendable (Int, HTTPMessage) -> HTTPFault?

    private struct State {
        /// Whether a step is running, and how many requests it has made.
        var (isArmed, count) = (false, 0)
        var faulted: [String] = []
    }

    private let state = Locked(State())
    private let choice: Choice

    /// There are no faults before a step begins.
    package init(_ choice: @escaping Choice) { self.choice = choice }

    /// The faults applied so far, with their requests.
    package var faulted: [String] { state.withLock { $0.faulted } }

    /// Begins a step.
    package func arm() { state.withLock { ($0.isArmed, $0.count) = (true, 0) } }

    /// Ends it.
    package func disarm() { state.withLock { $0.isArmed = false } }

    /// The fault of the next request (``HTTPFaultProxy/Plan``).
    package func fault(for request: HTTPMessage) -> HTTPFault? {
        let count: Int? = state.withLock { state in
            guard state.isArmed else { return nil }
            state.count += 1
            return state.count
        }
        guard let count, let fault = choice(count, request) else { return nil }
        let words = "\(fault.rawValue) \(request.words.dropLast().joined(separator: " "))"
        state.withLock { $0.faulted.append(words) }
        return fault
    }
}
