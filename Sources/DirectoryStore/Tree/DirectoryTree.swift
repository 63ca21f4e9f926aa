import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// The blocking work of a ``DirectoryStore``. Every method may be called concurrently.
///
/// Lock order: `draining`, `scanning`, `searching`, then `index` or `marks`. System calls that take microseconds are
/// made under `index`, so that an older state never overwrites a newer one.
/// Large: all calls of a store on one directory, with one file for each group of calls.
final class DirectoryTree: Sendable {
    let root: RootFolder
    let index = Locked(FolderIndex(), rank: .storeIndex)
    let watches: InotifyWatches
    let marks = Locked(TemplateMarkIndex())
    /// Whether the name was taken when an item was last created.
    let wasNameTaken = Locked(false)
    /// Whether files can be created without a name; nil until that was tried.
    let canNameLater = Locked<Bool?>(nil)
    let readOnlyFolders = ReadOnlyFolders()
    let listings = Locked(ListingTable())
    let listeners = Listeners<Void>()
    let renewals = GenerationRenewals()
    let abilities: FileSystemAbilities
    let type: FileSystemType
    /// Set if others can change the files without notification.
    let relistInterval: RelistInterval?
    /// The duration of the listings since a full listing was requested.
    let listingTime = Locked(Duration.zero)
    /// The identifiers of items that are identified by places; nil if they are identified by inodes.
    let memory: PlaceMemory?
    /// Held between checking a name and renaming an entry to it, if the filesystem can't do both in one step.
    let renaming = Locked(0)
    /// The age at which a temporary file counts as abandoned.
    let temporaryLife: Duration
    /// The numbers of event processing runs, searches of the tree, and searches of a folder for marks. Each lock is
    /// held during the work, so that only one thread does it.
    let draining = Locked(0, rank: .storeEvents)
    let scanning = Locked(0, rank: .storeScan)
    let searching = Locked(0, rank: .storeScan)

    /// - Parameters:
    ///   - memory: The file for the identifiers of renamed items, if the filesystem can't store them.
    ///   - abilities: The assumed features of the filesystem; nil to probe them.
    ///   - relistInterval: The interval of listings without change notification; nil to determine whether they are
    ///     needed.
    init(
        path: String, memory: FilePath?, temporaryLife: Duration, abilities: FileSystemAbilities?,
        relistInterval: RelistInterval?
    ) throws(RemoteStoreError) {
        self.temporaryLife = temporaryLife
        let folder = try Self.openDirectory(path)
        let watches = try at(path) { () throws(Errno) in try InotifyWatches() }
        self.watches = watches
        type = try at(path) { () throws(Errno) in try FileSystemType(of: folder) }
        let found = if let abilities { abilities } else { try Self.probe(folder, path) }
        self.abilities = found
        root = try RootFolder(path: path, type: found.keepsAttributes ? nil : type)
        self.relistInterval = if let relistInterval { relistInterval } else { try Self.listingNeeded(in: folder, path) }
        self.memory = found.keepsAttributes ? nil : try Self.open(memory)
    }

    private static func probe(_ folder: OpenDescriptor, _ path: String) throws(RemoteStoreError) -> FileSystemAbilities
    {
        try at(path) { () throws(Errno) in try FileSystemProbe.abilities(in: folder) }
    }

    private static func listingNeeded(in folder: OpenDescriptor, _ path: String) throws(RemoteStoreError)
        -> RelistInterval?
    {
        try at(path) { () throws(Errno) in try RelistInterval.needed(in: folder) }
    }

    private static func open(_ memory: FilePath?) throws(RemoteStoreError) -> PlaceMemory {
        do throws(Errno) {
            return try PlaceMemory(at: memory)
        } catch {
            throw .cannotSynchronize("\(memory?.string ?? ""): \(error)")
        }
    }

    /// The verified root.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` while it is gone or another directory is in its place.
    func openRoot() throws(RemoteStoreError) -> OpenDescriptor {
        let (handle, finding) = root.open()
        if finding != .usual {
            // Changes that were made in its absence were not observed.
            index.withLock { $0.expire() }
            watches.wake()
            listeners.signal()
        }
        guard let handle else { throw .serverUnreachable }
        return handle
    }

    /// Opens the folder with these names, without following symlinks or leaving the filesystem.
    func walk(_ names: some Collection<FileName>, from root: OpenDescriptor) throws(Errno) -> OpenDescriptor {
        var folder = root
        for name in names {
            do throws(Errno) { folder = try SystemCalls.openFolder(name, in: folder) } catch {
                // A filesystem mounted there is not part of the store.
                throw error == .improperLink ? .noSuchFileOrDirectory : error
            }
        }
        return folder
    }

    /// Whether an entry is a mountpoint and thus not part of the store. Before Linux 5.8, only the device number shows
    /// that, and only for folders: overlayfs reports the device of the layer for files.
    func isForeign(_ status: FileStatus) -> Bool {
        status.isMountPoint || status.kind == .folder && status.device != root.device
    }

    /// The path for messages.
    func path(_ names: [FileName]) -> String {
        names.reduce(root.path) { "\($0)/\($1)" }
    }
}
