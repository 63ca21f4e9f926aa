internal import Threads

/// The pause that a store has requested.
final class StorePause: Sendable {
    /// The maximum length of a pause in seconds, even if the store requests a longer one.
    static let longest = 900.0

    private let end = Locked(-Double.infinity)
    private let now: @Sendable () -> Double

    init(now: @escaping @Sendable () -> Double) { self.now = now }

    /// Seconds until the store may be called again; 0 for now.
    var left: Double {
        let now = now()
        return max(0, end.withLock { $0 } - now)
    }

    /// The minimum length of a pause in seconds.
    private static let shortest = 0.1

    /// The store requests a pause. A running pause is not shortened.
    func begin(_ seconds: Double) {
        let asked = now() + Self.bounded(seconds)
        end.withLock { $0 = max($0, asked) }
    }

    /// The user does not want to wait.
    func stop() { end.withLock { $0 = -.infinity } }

    /// The recorded length of a pause; a value that is not a positive number counts as 0.
    static func bounded(_ seconds: Double) -> Double { seconds > 0 ? min(max(seconds, shortest), longest) : 0 }
}

/// Makes no calls during a pause that the store requested: they fail immediately. Reads, for which a caller may be
/// waiting, wait for the end of a short pause.
struct PausedStore: StoreWrapper {
    let store: any RemoteStore
    let pause: StorePause
    /// How long a read waits for the end of pauses, in seconds.
    let longestPauseSeconds: Double

    func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {
        try await paused(0) { () async throws(RemoteStoreError) in try await store.recognize(anchor) }
    }

    func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        switch method {
        case .item, .enumerateItems, .fetchContents: try await paused(longestPauseSeconds, body)
        default: try await paused(0, body)
        }
    }

    private func paused<Result>(
        _ longestPauseSeconds: Double, _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        var waited = 0.0
        while true {
            let left = pause.left
            guard left > 0 else {
                do throws(RemoteStoreError) { return try await body() } catch {
                    guard case .busy(let seconds) = error, StorePause.bounded(seconds) > 0 else { throw error }
                    pause.begin(seconds)
                    guard waited + StorePause.bounded(seconds) <= longestPauseSeconds else { throw error }
                    continue
                }
            }
            guard waited + left <= longestPauseSeconds else { throw .busy(seconds: left) }
            waited += left
            // A cancelled call does not wait.
            do { try await Task.sleep(for: .seconds(left)) } catch { throw .cancelled }
        }
    }
}
