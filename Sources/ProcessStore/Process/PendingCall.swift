import ReplicaModel
import Threads

/// A call that a store's process is working on, and its progress.
final class PendingCall: Sendable {
    /// The outcome of a call.
    enum Outcome: Sendable {
        /// The answer's line, which has a result.
        case answer([UInt8])
        case error(WireError)
        /// There will be no answer, for this reason.
        case lost(String)
    }

    private struct State {
        var outcome: Outcome?
        /// Positions of the file whose content is final.
        var wrote = RangeSet<Int64>()
        var progress: Int64 = 0
    }

    let id: Int64
    /// Whether the call takes bytes from the store.
    let isFetch: Bool
    /// Objects that must live as long as the store may process the call: its slot among the calls, and its file.
    private let kept: [any Sendable]
    private let state = Locked(State())
    private let wakes = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// Called with the progress in bytes, on the process's thread.
    private let progress: @Sendable (Int64) -> Void

    /// The maximum number of separate ranges.
    private static let mostPieces = 4_096

    init(
        _ id: Int64, isFetch: Bool, keeping kept: [any Sendable],
        progress: @escaping @Sendable (Int64) -> Void
    ) {
        self.id = id
        self.isFetch = isFetch
        self.kept = kept
        self.progress = progress
    }

    /// Yields at any progress; ends with the outcome.
    var news: AsyncStream<Void> { wakes.stream }

    var outcome: Outcome? { state.withLock { $0.outcome } }

    /// The ranges written to the file so far.
    var wrote: RangeSet<Int64> { state.withLock { $0.wrote } }

    /// The first outcome counts.
    func finish(_ outcome: Outcome) {
        state.withLock { $0.outcome = $0.outcome ?? outcome }
        wakes.continuation.yield()
        wakes.continuation.finish()
    }

    /// - Returns: Whether it has advanced.
    func take(progress count: Int64) -> Bool {
        let isFurther = state.withLock { state in
            guard count > state.progress else { return false }
            state.progress = count
            return true
        }
        if isFurther { progress(min(count, largestNumber)) }
        return isFurther
    }

    /// - Parameter piece: A position and a number of bytes.
    /// - Returns: Whether it adds anything; nil if it is invalid.
    func take(wrote piece: [Int64]) -> Bool? {
        guard isFetch, piece.count == 2, (0...largestNumber).contains(piece[0]), (0...largestNumber).contains(piece[1])
        else { return nil }
        let isMore = state.withLock { state -> Bool? in
            let before = state.wrote
            state.wrote.insert(contentsOf: piece[0]..<piece[0] + piece[1])
            return state.wrote.ranges.count > Self.mostPieces ? nil : state.wrote != before
        }
        if isMore == true { wakes.continuation.yield() }
        return isMore
    }
}
