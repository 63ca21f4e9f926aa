import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// The blocking work of a ``DirectoryStore``. Every method may be called concurrently.
///
/// Lock order: `draining`, `scanning`, `searching`, then `index` or `marks`. System calls of microseconds are made under `index`, so that
/// what is recorded cannot be older than what is known.
/// Large: every call of a store on one directory, a folder or file for each group of them.
final class DirectoryTree: Sendable {
    let root: RootFolder
    let index = Locked(FolderIndex(), rank: .storeIndex)
    let watches: Watches
    let marks = Locked(MarkIndex())
    /// Whether something had the name of the last item that was to be made.
    let wasNameTaken = Locked(false)
    let listings = Locked(ListingTable())
    let listeners = Listeners<Void>()
    let renewals = GenerationRenewals()
    let abilities: FileSystemAbilities
    let type: FileSystemType
    /// Set if others can change the files without notification.
    let lookingAgain: RelistInterval?
    /// The duration of the listings since a full listing was requested.
    let listingTime = Locked(Duration.zero)
    /// The identifiers of items that are identified by places; nil if they are identified by inodes.
    let memory: PlaceMemory?
    /// Held while an entry gets a name that was checked before, if the filesystem can't do both in one step.
    let renaming = Locked(0)
    /// The age at which a temporary file counts as abandoned.
    let temporaryLife: Duration
    /// How often events were processed, the tree was searched, and a folder was searched for marks. The lock is held
    /// during the work, so that only one thread does it.
    let draining = Locked(0, rank: .storeEvents)
    let scanning = Locked(0, rank: .storeScan)
    let searching = Locked(0, rank: .storeScan)

    /// - Parameters:
    ///   - memory: Where it is kept what items are called, should the file system not keep it.
    ///   - abilities: What the file system is taken to be able to do; nil to find out.
    ///   - lookingAgain: How often it is looked at without a reason; nil to find out whether it is.
    init(
        path: String, memory: FilePath?, temporaryLife: Duration, abilities: FileSystemAbilities?,
        lookingAgain: RelistInterval?
    ) throws(RemoteStoreError) {
        self.temporaryLife = temporaryLife
        let folder = try Self.openDirectory(path)
        let watches = try at(path) { () throws(Errno) in try Watches() }
        self.watches = watches
        type = try at(path) { () throws(Errno) in try FileSystemType(of: folder) }
        let found = if let abilities { abilities } else { try Self.look(at: folder, path) }
        self.abilities = found
        root = try RootFolder(path: path, type: found.keepsAttributes ? nil : type)
        self.lookingAgain = if let lookingAgain { lookingAgain } else { try Self.listingNeeded(in: folder, path) }
        self.memory = found.keepsAttributes ? nil : try Self.open(memory)
    }

    private static func look(at folder: Handle, _ path: String) throws(RemoteStoreError) -> FileSystemAbilities {
        try at(path) { () throws(Errno) in try FileSystemProbe.look(in: folder) }
    }

    private static func listingNeeded(in folder: Handle, _ path: String) throws(RemoteStoreError) -> RelistInterval? {
        try at(path) { () throws(Errno) in try RelistInterval.needed(in: folder) }
    }

    private static func open(_ memory: FilePath?) throws(RemoteStoreError) -> PlaceMemory {
        do throws(Errno) {
            return try PlaceMemory(at: memory)
        } catch {
            throw .cannotSynchronize("\(memory?.string ?? ""): \(error)")
        }
    }

    /// The root, verified.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` while it is away, or another directory is in its place.
    func openRoot() throws(RemoteStoreError) -> Handle {
        let (handle, finding) = root.open()
        if finding != .usual {
            // Changes while it was away were not observed.
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
                // A filesystem mounted there is not part of the store.
                throw error == .improperLink ? .noSuchFileOrDirectory : error
            }
        }
        return folder
    }

    /// Whether an entry is a mount point and thus not part of the store. Before Linux 5.8 this is only detectable by the
    /// device number, and only for folders: overlayfs reports the device of the layer for files.
    func isForeign(_ status: FileStatus) -> Bool {
        status.isMountPoint || status.kind == .folder && status.device != root.device
    }

    /// The path for messages.
    func path(_ names: [FileName]) -> String {
        names.reduce(root.path) { "\($0)/\($1)" }
    }
}
