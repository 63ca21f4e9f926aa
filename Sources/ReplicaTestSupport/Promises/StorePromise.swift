public import ReplicaModel

/// One promise of ``RemoteStore`` as a plain value, so that any store's tests can run it.
public struct StorePromise: Sendable, CustomStringConvertible {
    /// A sentence that says what is promised.
    public let name: String
    /// Whether a store of these properties owes it.
    public let applies: @Sendable (StoreProperties) -> Bool
    private let body: @Sendable (StoreSubject) async throws -> Void

    /// A promise that stores of some properties owe; all, when nothing is said.
    public init(
        _ name: String, when applies: @escaping @Sendable (StoreProperties) -> Bool = { _ in true },
        _ body: @escaping @Sendable (StoreSubject) async throws -> Void
    ) {
        self.name = name
        self.applies = applies
        self.body = body
    }

    /// What stores without a property owe.
    static func lacking(
        _ property: any KeyPath<StoreProperties, Bool> & Sendable
    ) -> @Sendable (StoreProperties) -> Bool {
        { !$0[keyPath: property] }
    }

    public var description: String { name }

    /// Holds a freshly made, empty store to the promise; one that does not owe it passes.
    /// - Throws: ``BrokenPromise``, or an error that the store should not have thrown.
    public func check(_ subject: StoreSubject) async throws {
        if applies(subject.store.properties) { try await body(subject) }
    }
}

/// What a store did against a promise.
public struct BrokenPromise: Error, CustomStringConvertible {
    public let description: String

    /// A finding in these words.
    public init(_ description: String) {
        self.description = description
    }
}

/// A freshly made, empty store with somebody else who uses the same storage.
public struct StoreSubject: Sendable {
    public let store: any RemoteStore
    public let other: any OtherClient
    /// How long the store may take to notice what the other client did.
    public let limit: Duration
    private let open: @Sendable () async throws -> any RemoteStore

    /// A store and its other client.
    /// - Parameter open: Opens the store on its storage: once now, and again for the promises that want to know what it
    ///   kept.
    public init(
        other: any OtherClient, limit: Duration = .seconds(30),
        open: @escaping @Sendable () async throws -> any RemoteStore
    ) async throws {
        store = try await open()
        self.other = other
        self.limit = limit
        self.open = open
    }

    /// The same storage with the store opened again, as after a restart.
    func reopened() async throws -> StoreSubject {
        try await StoreSubject(other: other, limit: limit, open: open)
    }
}

/// Another client of the store's storage, that goes round the store under test. Paths have `/` between names and
/// stand for items below the root; the folders above are there.
public protocol OtherClient: Sendable {
    /// Writes a file, making or replacing it.
    func write(_ content: [UInt8], to path: String) async throws
    /// Makes a folder.
    func makeFolder(_ path: String) async throws
    /// Moves a file or a folder to a free place.
    func move(_ path: String, to destination: String) async throws
    /// Deletes a file, or a folder with all that is in it.
    func delete(_ path: String) async throws
    /// What a file holds; nil when there is no file.
    func content(at path: String) async throws -> [UInt8]?
}

/// All promises of a ``RemoteStore``.
public enum StorePromises {
    /// The whole suite. Each wants a store of its own.
    public static let all: [StorePromise] =
        listing + creating + adopting + recovering + metadata + modifying + moving + deleting + fetching + changes
        + names + concurrency + reopening
}
