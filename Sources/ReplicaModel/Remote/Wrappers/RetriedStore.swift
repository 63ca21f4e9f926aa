/// A store whose calls are made again at once when the service was not reached: for one that drops a call now and then,
/// so that a reader need not see it. The engine itself tries again later, for ever.
///
/// Creates and modifies are made once: they may have happened, and the engine finds out
/// (``RemoteStore/itemCreated(from:)``).
public struct RetriedStore: StoreWrapper {
    public let store: any RemoteStore
    private let pauses: [Duration]

    /// - Parameter pauses: How long to wait before each further attempt; as many as there are.
    public init(_ store: any RemoteStore, pauses: [Duration] = [.milliseconds(200), .seconds(1)]) {
        self.store = store
        self.pauses = pauses
    }

    /// - Throws: What the last attempt threw; ``RemoteStoreError/cancelled`` when the task is cancelled between two.
    public func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        guard method != .createItem, method != .modifyItem else { return try await body() }
        for pause in pauses {
            do throws(RemoteStoreError) {
                return try await body()
            } catch {
                guard error == .serverUnreachable else { throw error }
            }
            do { try await Task.sleep(for: pause) } catch { throw .cancelled }
        }
        return try await body()
    }
}
