public import ReplicaModel
import Threads

/// A store whose calls fail as a script says: before they reach the store behind it, or after, with the answer lost.
public final class FaultyStore: StoreWrapper {
    /// When a fault strikes.
    public enum Moment: Hashable, Sendable {
        /// The store never hears of the call.
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

    /// A faultless wrapper of `store`, until ``fail(_:_:with:times:after:)`` is called.
    public init(_ store: any RemoteStore) {
        self.store = store
    }

    /// Lets the next calls of `method` fail.
    /// - Parameters:
    ///   - times: How many calls fail.
    ///   - after: How many calls get through before the first that fails.
    public func fail(
        _ method: StoreCall.Method, _ moment: Moment = .before, with error: RemoteStoreError = .serverUnreachable,
        times: Int = 1, after spared: Int = 0
    ) {
        let steps = [RemoteStoreError?](repeating: nil, count: spared) + Array(repeating: error, count: times)
        script.withLock { $0[Key(method: method, moment: moment), default: []] += steps }
    }

    /// Takes back all faults that did not strike yet.
    public func heal() { script.withLock { $0 = [:] } }

    /// Whether every fault has struck.
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
