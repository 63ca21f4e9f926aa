import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// The blocking work of a ``DirectoryStore``. Every method may run on several threads at once.
///
/// Lock order: `draining`, `scanning`, `searching`, then `index` or `marks`. System calls of microseconds are made under `index`, so that
/// what is recorded cannot be older than what is known.
final class DirectoryTree: Sendable {
    let root: RootFolder
    let index = Locked(FolderIndex(), rank: .storeIndex)
    let watches: Watches
    let marks = Locked(MarkIndex())
    let listings = Locked(ListingTable())
    let listeners = Listeners()
    /// Whether the file system keeps `user.*` attributes.
    let keepsAttributes: Bool
    /// The age at which a temporary file is one that nobody will finish.
    let temporaryLife: Duration
    /// How often events were taken in, the tree looked through, and a folder for marks: held meanwhile, so that one thread
    /// at a time does.
    let draining = Locked(0, rank: .storeEvents)
    let scanning = Locked(0, rank: .storeScan)
    let searching = Locked(0, rank: .storeScan)

    init(path: String, temporaryLife: Duration) throws(RemoteStoreError) {
        self.temporaryLife = temporaryLife
        let folder = try Self.openDirectory(path)
        root = try RootFolder(path: path)
        let watches = try at(path) { () throws(Errno) in try Watches() }
        self.watches = watches
        keepsAttributes = try at(path) { () throws(Errno) in try Linux.attributeNames(of: folder) != nil }
    }

    /// The root, verified.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` while it is away.
    func openRoot() throws(RemoteStoreError) -> Handle {
        let (handle, finding) = root.open()
        if finding != .usual {
            // Whatever happened while it was away was not seen.
            index.withLock { $0.expire() }
            watches.wake()
            listeners.signal()
        }
        guard let handle else { throw .serverUnreachable }
        return handle
    }

    /// Opens the folder that these names lead to, following no symlink and leaving the file system nowhere.
    func walk(_ names: some Collection<FileName>, from root: Handle) throws(Errno) -> Handle {
        var folder = root
        for name in names {
            do throws(Errno) { folder = try Linux.openFolder(name, in: folder) } catch {
                // What is mounted there is no part of the store.
                throw error == .improperLink ? .noSuchFileOrDirectory : error
            }
        }
        return folder
    }

    /// Whether what is found below the root is no part of the store: it, or what it is in, is mounted there.
    func isForeign(_ status: FileStatus) -> Bool { status.device != root.device || status.isMountPoint }

    /// A path for messages.
    func path(_ names: [FileName]) -> String {
        names.reduce(root.path) { "\($0)/\($1)" }
    }
}
