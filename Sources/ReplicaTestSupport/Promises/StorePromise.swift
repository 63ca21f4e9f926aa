public import ReplicaModel

/// One promise of ``RemoteStore`` as a plain value, so that any store's tests can run it.
public struct StorePromise: Sendable, CustomStringConvertible {
    /// The promise in one sentence.
    public let name: String
    /// Whether it applies to a store with these properties.
    public let applies: @Sendable (StoreProperties) -> Bool
    private let body: @Sendable (StoreSubject) async throws -> Void

    /// A promise of stores with certain properties, by default of all stores.
    public init(
        _ name: String, when applies: @escaping @Sendable (StoreProperties) -> Bool = { _ in true },
        _ body: @escaping @Sendable (StoreSubject) async throws -> Void
    ) {
        self.name = name
        self.applies = applies
        self.body = body
    }

    /// The condition for stores without a property.
    static func lacking(
        _ property: any KeyPath<StoreProperties, Bool> & Sendable
    ) -> @Sendable (StoreProperties) -> Bool {
        { !$0[keyPath: property] }
    }

    public var description: String { name }

    /// Checks the promise with a newly created, empty store; passes if it does not apply.
    /// - Throws: ``BrokenPromise``, or an error that the store should not have thrown.
    public func check(_ subject: StoreSubject) async throws {
        if applies(subject.store.properties) { try await body(subject) }
    }
}

/// How a store broke a promise.
public struct BrokenPromise: Error, CustomStringConvertible {
    public let description: String

    /// A finding with this description.
    public init(_ description: String) {
        self.description = description
    }
}

/// A newly created, empty store, together with another client of the same storage.
public struct StoreSubject: Sendable {
    public let store: any RemoteStore
    public let other: any OtherClient
    /// How long the store may take to detect the other client's changes.
    public let limit: Duration
    private let open: @Sendable () async throws -> any RemoteStore

    /// A store and its other client.
    /// - Parameter open: Opens the store on its storage: once now, and again for promises about what it has persisted.
    public init(
        other: any OtherClient, limit: Duration = .seconds(300),
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

/// Another client of the storage, which bypasses the store under test. Paths are relative to the root, with `/` between
/// names; parent folders exist.
public protocol OtherClient: Sendable {
    /// Writes a file, creating or replacing it.
    func write(_ content: [UInt8], to path: String) async throws
    /// Creates a folder.
    func makeFolder(_ path: String) async throws
    /// Moves a file or a folder to a free path.
    func move(_ path: String, to destination: String) async throws
    /// Deletes a file, or a folder with its contents.
    func delete(_ path: String) async throws
    /// The content of a file; nil if there is no file.
    func content(at path: String) async throws -> [UInt8]?
}

/// All promises of a ``RemoteStore``.
public enum StorePromises {
    /// The complete suite. Each promise needs a store of its own.
    public static let all: [StorePromise] =
        listing + creating + adopting + recovering + metadata + modifying + moving + deleting + fetching + changes
        + names + concurrency + reopening
}
