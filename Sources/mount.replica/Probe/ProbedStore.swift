import DirectoryStore
import Glibc
import Logging
import PathStore
import ProcessStore
import ReplicaControl
import ReplicaModel
import SFTPStore
import SystemPackage

/// One client of a store that is probed.
struct ProbedStore: Sendable {
    let storage: any PathStorage
    /// Whether extended attributes are kept.
    var keepsAttributes = false
    /// Whether it reports others' changes immediately.
    var tellsChanges = false
    /// Whether it reports the free space.
    var tellsSpace = false
    let close: @Sendable () async -> Void

    /// - Parameter folder: Where it keeps its data; it is created.
    static func open(_ url: StoreURL, credentials: FilePath?, folder: FilePath) async throws
        -> ProbedStore
    {
        guard mkdir(folder.string, 0o700) == 0 else { throw Errno(rawValue: errno) }
        do throws(StoreFailure) {
            if let path = try directory(url) {
                let store: DirectoryStore
                do throws(RemoteStoreError) { store = try DirectoryStore(path: path) } catch {
                    throw .refused(error.message)
                }
                var probed = ProbedStore(storage: DirectoryPathStorage(store: store)) {}
                (probed.tellsChanges, probed.tellsSpace) = (store.properties.hasChangeFeed, true)
                probed.keepsAttributes = store.properties.fields.contains(.extendedAttributes)
                return probed
            }
            if url.scheme == SFTPStoreFactory.scheme {
                let storage = try await SFTPStoreFactory.storage(url, credentials: credentials)
                return ProbedStore(storage: storage) { await storage.close() }
            }
            let opened = try await ProgramStoreFactory.process(
                url, folder: folder, credentials: credentials,
                Logger(label: "replica") { _ in SwiftLogNoOpLogHandler() })
            guard case .path(let storage) = opened else {
                await opened.close()
                throw .refused("stores of the level `item` can't be probed yet")
            }
            return ProbedStore(storage: storage) { await opened.close() }
        } catch {
            throw ControlFailure(.badStore, "\(url): \(error.message)")
        }
    }

    private static func directory(_ url: StoreURL) throws(StoreFailure) -> String? {
        do { return try StoreFactory.directory(of: url)?.string } catch { throw .refused("\(error)") }
    }
}
