import DirectoryStore
import ReplicaControl
import ReplicaModel

/// Makes the store that a URL names. A new kind of store is one more case here.
enum StoreFactory {
    /// Opens a store for a new domain.
    /// - Throws: `badStore` with what stands in the way.
    static func openNew(_ url: StoreURL) throws(ControlFailure) -> any RemoteStore {
        do throws(RemoteStoreError) {
            return try DirectoryStore(path: try path(url))
        } catch {
            throw ControlFailure(.badStore, "\(url): \(Self.words(error))")
        }
    }

    /// The store of a domain that was there before: it may be away for now.
    static func reopen(_ url: StoreURL) -> any RemoteStore {
        LateStore(properties: StoreProperties()) { () throws(RemoteStoreError) in
            try DirectoryStore(path: try path(url), isNew: false)
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

    private static func words(_ error: RemoteStoreError) -> String {
        if case .cannotSynchronize(let why) = error { return why }
        return error.code
    }
}
