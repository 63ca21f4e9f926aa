public import ReplicaModel
import Threads

/// A store whose calls fail as scripted: before they reach the underlying store, or afterwards, with the answer lost.
public final class FaultyStore: StoreWrapper {
    /// When a fault occurs.
    public enum Moment: Hashable, Sendable {
        /// The call does not reach the store.
        case before
        /// The store executed the call, but its answer is lost.
        case after
    }

    private struct Key: Hashable {
        var method: StoreCall.Method
        var moment: Moment
    }

    public let store: any RemoteStore
    private let script = Locked<[Key: [RemoteStoreError?]]>([:])

    /// Wraps `store` without faults, until ``fail(_:_:with:times:after:)`` is called.
    public init(_ store: any RemoteStore) {
        self.store = store
    }

    /// Makes the next calls of `method` fail.
    /// - Parameters:
    ///   - times: How many calls fail.
    ///   - after: How many calls succeed before the first failure.
    public func fail(
        _ method: StoreCall.Method, _ moment: Moment = .before, with error: RemoteStoreError = .serverUnreachable,
        times: Int = 1, after spared: Int = 0
    ) {
        let steps = [RemoteStoreError?](repeating: nil, count: spared) + Array(repeating: error, count: times)
        script.withLock { $0[Key(method: method, moment: moment), default: []] += steps }
    }

    /// Removes all faults that have not occurred yet.
    public func heal() { script.withLock { $0 = [:] } }

    /// Whether every fault has occurred.
    public var isSpent: Bool { script.withLock { $0.values.allSatisfy(\.isEmpty) } }

    private func strike(_ method: StoreCall.Method, _ moment: Moment) throws(RemoteStoreError) {
        let key = Key(method: method, moment: moment)
        let step = script.withLock { script -> RemoteStoreError? in
            guard script[key]?.isEmpty == false else { return nil }
            return script[key]?.removeFirst()
        }
        if let step { throw step }
    }

    public func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        try strike(method, .before)
        let result = try await body()
        try strike(method, .after)
        return result
    }
}
