import ReplicaModel
import ReplicaTestSupport
import Threads

/// The connection between a machine and the storage. It may be cut, lose answers, or end with the machine.
final class Line: Sendable {
    private struct State {
        var isCut = false
        var isDead = false
        /// After how many calls the machine dies; nil for never.
        var callsToDeath: Int?
        /// The chance of an answer to get lost, in percent.
        var lostAnswers = 0
        var random: SeededGenerator
    }
    private let state: Locked<State>

    init(_ seed: UInt64) { state = Locked(State(random: SeededGenerator(seed)), rank: .innermost) }

    func cut(_ isCut: Bool) { state.withLock { $0.isCut = isCut } }

    func lose(_ percent: Int) { state.withLock { $0.lostAnswers = percent } }

    func die(after calls: Int) { state.withLock { $0.callsToDeath = calls } }

    var isDead: Bool { state.withLock { $0.isDead } }

    /// Before a request goes out.
    /// - Returns: What happens to it instead.
    func before() -> Trouble? {
        state.withLock { state in
            if let left = state.callsToDeath {
                state.callsToDeath = left - 1
                if left <= 0 { state.isDead = true }
            }
            return state.isDead ? .death : state.isCut ? .cut : nil
        }
    }

    /// Before its answer is handed over.
    /// - Returns: What happens to that instead.
    func after() -> Trouble? {
        state.withLock { state in
            if state.isDead { return .death }
            if state.isCut { return .cut }
            return Int.random(in: 0..<100, using: &state.random) < state.lostAnswers ? .cut : nil
        }
    }

    enum Trouble {
        case cut
        /// The machine is gone: the answer is lost.
        case death
    }
}

/// A store behind a line.
struct StoreBehindLine: StoreWrapper {
    let store: any RemoteStore
    let line: Line
    /// Whether the line is further behind, so that this ends with the machine and is never cut.
    var isWithinMachine = false

    func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        if isWithinMachine {
            if line.isDead { throw .cancelled }
            let result = try await body()
            if line.isDead { throw .cancelled }
            return result
        }
        try meet(line.before())
        let result = try await body()
        try meet(line.after())
        return result
    }

    private func meet(_ trouble: Line.Trouble?) throws(RemoteStoreError) {
        switch trouble {
        case .cut: throw .serverUnreachable
        case .death: throw .cancelled
        case nil: break
        }
    }
}
