import DirectoryStore
import Glibc
import Logging
import ProcessStore
import ReplicaControl
import ReplicaModel
import SFTPStore
import SystemPackage
import Threads

/// Makes the store that a URL names: a directory, one on a server (``SFTPStoreFactory``), or a program that is found by the
/// scheme (``ProgramStoreFactory``).
enum StoreFactory {
    private static func isDirectory(_ url: StoreURL) -> Bool { url.scheme == "file" }

    /// The directory that is the store, or nil if the store is not a directory.
    static func directory(of url: StoreURL) throws -> FilePath? {
        guard isDirectory(url) else { return nil }
        return FilePath(platformString: try url.filePath().map { CChar(bitPattern: $0) } + [0])
    }

    /// Whether ``make(_:)`` can create the directory that is the store.
    static func canMake(_ url: StoreURL) -> Bool { isDirectory(url) || url.scheme == SFTPStoreFactory.scheme }

    /// Whether the directory that is the store, here or on a server, does not exist.
    static func isMissing(_ url: StoreURL) throws -> Bool {
        if let path = try directory(of: url) { return access(path.string, F_OK) != 0 && errno == ENOENT }
        guard url.scheme == SFTPStoreFactory.scheme else { return false }
        return try told(url) { () async throws(StoreFailure) in
            try await SFTPStoreFactory.newDirectory(url) { (directory) async throws(SFTPFailure) in
                try await directory.isMissing()
            }
        }
    }

    /// Creates the directory of a new store, for its owner alone.
    static func make(_ url: StoreURL) throws(ControlFailure) {
        guard url.scheme == SFTPStoreFactory.scheme else {
            return try said(url) { () throws(RemoteStoreError) in
                try DirectoryStore.makeDirectory(try path(url), mode: 0o700)
            }
        }
        try told(url) { () async throws(StoreFailure) in
            try await SFTPStoreFactory.newDirectory(url) { (directory) async throws(SFTPFailure) in
                try await directory.make()
            }
        }
    }

    /// Removes the directory that ``make(_:)`` created, unless it has been used since.
    static func removeCreated(_ url: StoreURL) throws {
        if let path = try directory(of: url) {
            rmdir(path.string)
        } else {
            try told(url) { () async throws(StoreFailure) in
                try await SFTPStoreFactory.newDirectory(url) { (directory) async throws(SFTPFailure) in
                    try await directory.remove()
                }
            }
        }
    }

    /// Opens a store for a new domain and reads its root.
    /// - Throws: `badStore` with the reason why it can't be used.
    static func tryOut(_ url: StoreURL, credentials: FilePath?) throws -> TriedStore {
        guard isDirectory(url) else { return try tryOutOther(url, credentials) }
        if try isMissing(url) {
            throw ControlFailure(.badStore, "\(url): no such directory; --create (-o create) creates it")
        }
        return try said(url) { () throws(RemoteStoreError) in
            let store = try DirectoryStore(path: try path(url))
            try probe(store)
            return TriedStore(properties: store.properties)
        }
    }

    private static func tryOutOther(_ url: StoreURL, _ credentials: FilePath?) throws -> TriedStore {
        try told(url) { () async throws(StoreFailure) in
            if url.scheme == SFTPStoreFactory.scheme {
                return try await SFTPStoreFactory.tryOut(url, credentials: credentials)
            }
            // The store's own messages are not the one line that the user expects.
            let log = Logger(label: "replica") { _ in SwiftLogNoOpLogHandler() }
            return try await ProgramStoreFactory.tryOut(url, credentials: credentials, log)
        }
    }

    /// Blocks this thread until `body` has ended.
    private static func told<Value: Sendable>(
        _ url: StoreURL, _ body: @escaping @Sendable () async throws(StoreFailure) -> Value
    ) throws(ControlFailure) -> Value {
        let outcome = waited { () async -> Result<Value, StoreFailure> in
            do throws(StoreFailure) { return .success(try await body()) } catch { return .failure(error) }
        }
        do throws(StoreFailure) { return try outcome.get() } catch {
            throw ControlFailure(.badStore, "\(url): \(error.message)")
        }
    }

    private static func probe(_ store: any RemoteStore) throws(RemoteStoreError) {
        let error = waited { () async -> RemoteStoreError? in
            do throws(RemoteStoreError) { _ = try await store.item(.root) } catch { return error }
            return nil
        }
        if let error { throw error }
    }

    /// The store of an existing domain, which may be unreachable now. Until it is reached, its last known properties
    /// are assumed. Its calls are logged if the log is verbose.
    static func reopen(_ url: StoreURL, state: FilePath, credentials: FilePath?, _ log: Logger) -> LazyStore {
        let known = SavedStoreProperties.read(state: state)
        let isLogged = log.logLevel <= .debug
        return LazyStore(known: known ?? StoreProperties()) { found in
            if found != known { remember(found, state: state, log) }
        } opening: { () async throws(OpeningFailure) in
            var opened =
                switch url.scheme {
                case _ where isDirectory(url): try openDirectory(url, state)
                case SFTPStoreFactory.scheme:
                    try await SFTPStoreFactory.reopen(url, state: state, credentials: credentials)
                default: try await ProgramStoreFactory.reopen(url, state: state, credentials: credentials, log)
                }
            if isLogged { opened.store = LoggedStore(opened.store, logger: log) }
            return opened
        }
    }

    private static func openDirectory(_ url: StoreURL, _ state: FilePath) throws(OpeningFailure) -> OpenStore {
        do throws(RemoteStoreError) {
            return OpenStore(store: try DirectoryStore(path: try path(url), memory: state.appending("places")))
        } catch {
            throw OpeningFailure(error: .serverUnreachable, message: error.message)
        }
    }

    /// Records the store's properties in the domain's state. If the disk is full that is not an error: they are written
    /// the next time.
    static func remember(_ properties: StoreProperties, state: FilePath, _ log: Logger) {
        do {
            try SavedStoreProperties.write(properties, state: state)
        } catch {
            log.warning("the store's properties cannot be saved", metadata: ["error": "\(error)"])
        }
    }

    private static func said<Value>(
        _ url: StoreURL, _ body: () throws(RemoteStoreError) -> Value
    ) throws(ControlFailure) -> Value {
        do throws(RemoteStoreError) { return try body() } catch {
            throw ControlFailure(.badStore, "\(url): \(error.message)")
        }
    }

    private static func path(_ url: StoreURL) throws(RemoteStoreError) -> String {
        let bytes: [UInt8]
        do throws(StoreURLError) {
            bytes = try url.filePath()
        } catch {
            throw .cannotSynchronize("\(error)")
        }
        guard let path = String(validating: bytes, as: UTF8.self) else {
            throw .cannotSynchronize("the path is not UTF-8")
        }
        return path
    }
}
