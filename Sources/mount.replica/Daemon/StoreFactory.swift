import DirectoryStore
import Glibc
import Logging
import ReplicaControl
import ReplicaModel
import SystemPackage
import Threads

/// Opens the store for a URL. A new kind of store is one more case here.
enum StoreFactory {
    /// The store's directory, or nil if the store is not a directory.
    static func directory(of url: StoreURL) throws -> FilePath? {
        FilePath(platformString: try url.filePath().map { CChar(bitPattern: $0) } + [0])
    }

    /// Whether the store does not exist.
    static func isMissing(_ url: StoreURL) throws -> Bool {
        guard let path = try directory(of: url) else { return false }
        return access(path.string, F_OK) != 0 && errno == ENOENT
    }

    /// Creates the directory of a new store.
    static func make(_ url: StoreURL, mode: UInt16) throws(ControlFailure) {
        try said(url) { () throws(RemoteStoreError) in
            try DirectoryStore.makeDirectory(try path(url), mode: mode)
        }
    }

    /// Removes the directory that ``make(_:mode:)`` created, unless it has been used since.
    static func takeBack(_ url: StoreURL) throws {
        if let path = try directory(of: url) { rmdir(path.string) }
    }

    /// Opens a store for a new domain and checks its root.
    /// - Throws: `badStore` with the reason.
    static func openNew(_ url: StoreURL) throws -> any RemoteStore {
        if try isMissing(url) {
            throw ControlFailure(.badStore, "\(url): no such directory; --create (-o create) creates it")
        }
        return try said(url) { () throws(RemoteStoreError) in
            let store = try DirectoryStore(path: try path(url))
            try probe(store)
            return store
        }
    }

    private static func probe(_ store: any RemoteStore) throws(RemoteStoreError) {
        let (result, isDone) = (Locked<RemoteStoreError?>(nil), Latch())
        Task {
            do throws(RemoteStoreError) { _ = try await store.item(.root) } catch {
                result.withLock { $0 = error }
            }
            isDone.open()
        }
        isDone.wait()
        if let error = result.withLock({ $0 }) { throw error }
    }

    /// The store of a domain that was there before: it may be away for now. Until it is reached it is taken for what it
    /// was when it was reached last. Its calls are logged where the log has details.
    static func reopen(_ url: StoreURL, state: FilePath, _ log: Logger) -> any RemoteStore {
        let known = KnownProperties.read(state: state)
        let store = LateStore(known: known ?? StoreProperties()) { found in
            if found != known { remember(found, state: state, log) }
        } opening: { () throws(RemoteStoreError) in
            try DirectoryStore(path: try path(url), memory: state.appending("places"))
        }
        return log.logLevel <= .debug ? LoggedStore(store, logger: log) : store
    }

    /// Notes in the domain's state what its store is. A disk that can't take it is no reason to stop: it is written the next
    /// time.
    static func remember(_ properties: StoreProperties, state: FilePath, _ log: Logger) {
        do {
            try KnownProperties.write(properties, state: state)
        } catch {
            log.warning("what the store keeps cannot be noted", metadata: ["error": "\(error)"])
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
