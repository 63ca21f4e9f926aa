/// A store of which only so many calls run at a time; further ones wait their turn, first come first served.
///
/// Small calls have a limit of their own, so that a listing never waits for uploads of gigabytes.
public final class LimitedStore: StoreWrapper {
    /// How many calls of each class may run at a time; at least 1 of each.
    public struct Limits: Hashable, Sendable {
        /// Calls without contents.
        public var metadata: Int
        /// Creates and modifies that send contents.
        public var uploads: Int
        /// Fetches.
        public var downloads: Int

        public init(metadata: Int, uploads: Int, downloads: Int) {
            self.metadata = metadata
            self.uploads = uploads
            self.downloads = downloads
        }

        /// The same limit for each class.
        public init(each limit: Int) {
            self.init(metadata: limit, uploads: limit, downloads: limit)
        }
    }

    public let store: any RemoteStore
    private let metadata: CallGate
    private let uploads: CallGate
    private let downloads: CallGate

    /// Limits the calls of `store`; to its own concurrency for each class when nothing is said.
    public init(_ store: any RemoteStore, limits: Limits? = nil) {
        let limits = limits ?? Limits(each: store.properties.concurrency)
        self.store = store
        metadata = CallGate(limits.metadata)
        uploads = CallGate(limits.uploads)
        downloads = CallGate(limits.downloads)
    }

    /// - Throws: Also ``RemoteStoreError/cancelled``, when the task is cancelled while it waits.
    public func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        let gate = hasContents ? uploads : method == .fetchContents ? downloads : metadata
        try await gate.enter()
        defer { gate.leave() }
        return try await body()
    }
}
