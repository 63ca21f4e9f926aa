import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// The blocking work of a ``DirectoryStore``. Every method may run on several threads at once.
///
/// Lock order: `draining`, `scanning`, `searching`, then `index` or `marks`. System calls of microseconds are made under `index`, so that
/// what is recorded cannot be older than what is known.
/// Large: every call of a store on one directory, a folder or file for each group of them.
final class DirectoryTree: Sendable {
    let root: RootFolder
    let index = Locked(FolderIndex(), rank: .storeIndex)
    let watches: Watches
    let marks = Locked(MarkIndex())
    let listings = Locked(ListingTable())
    let listeners = Listeners<Void>()
    let abilities: FileSystemAbilities
    let type: FileSystemType
    /// Set where others can change the files without our being told.
    let lookingAgain: LookingAgain?
    /// How long it took to list what was listed since all was asked for anew.
    let listingTime = Locked(Duration.zero)
    /// What items are called where they are known by their places; nil where they are known by their inodes.
    let memory: PlaceMemory?
    /// Held while something gets a name that was looked at before, where the file system can't do both at once.
    let renaming = Locked(0)
    /// The age at which a temporary file is one that nobody will finish.
    let temporaryLife: Duration
    /// How often events were taken in, the tree looked through, and a folder for marks: held meanwhile, so that one thread
    /// at a time does.
    let draining = Locked(0, rank: .storeEvents)
    let scanning = Locked(0, rank: .storeScan)
    let searching = Locked(0, rank: .storeScan)

    /// - Parameters:
    ///   - memory: Where it is kept what items are called, should the file system not keep it.
    ///   - abilities: What the file system is taken to be able to do; nil to find out.
    ///   - lookingAgain: How often it is looked at without a reason; nil to find out whether it is.
    init(
        path: String, memory: FilePath?, temporaryLife: Duration, abilities: FileSystemAbilities?,
        lookingAgain: LookingAgain?
    ) throws(RemoteStoreError) {
        self.temporaryLife = temporaryLife
        let folder = try Self.openDirectory(path)
        root = try RootFolder(path: path)
        let watches = try at(path) { () throws(Errno) in try Watches() }
        self.watches = watches
        type = try at(path) { () throws(Errno) in try FileSystemType(of: folder) }
        let found = if let abilities { abilities } else { try Self.look(at: folder, path) }
        self.abilities = found
        self.lookingAgain = if let lookingAgain { lookingAgain } else { try Self.listingNeeded(in: folder, path) }
        self.memory = found.keepsAttributes ? nil : try Self.open(memory)
    }

    /// What tells the store's directory from another one that may stand in its place, also over a restart of the machine.
    /// Where inode numbers are others after each mount it is the kind of file system, and when the directory was made.
    var identity: String {
        memory == nil ? root.identity : "on-\(hex(UInt64(type.rawValue)))-\(root.birth)"
    }

    private static func look(at folder: Handle, _ path: String) throws(RemoteStoreError) -> FileSystemAbilities {
        try at(path) { () throws(Errno) in try FileSystemProbe.look(in: folder) }
    }

    private static func listingNeeded(in folder: Handle, _ path: String) throws(RemoteStoreError) -> LookingAgain? {
        try at(path) { () throws(Errno) in try LookingAgain.needed(in: folder) }
    }

    private static func open(_ memory: FilePath?) throws(RemoteStoreError) -> PlaceMemory {
        do throws(Errno) {
            return try PlaceMemory(at: memory)
        } catch {
            throw .cannotSynchronize("\(memory?.string ?? ""): \(error)")
        }
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

    /// Whether what is found in a folder of the store is no part of it: it is mounted there. Before Linux 5.8 only another device
    /// tells that, and of folders alone: overlayfs says of its files that they are on the device of their layer.
    func isForeign(_ status: FileStatus) -> Bool {
        status.isMountPoint || status.kind == .folder && status.device != root.device
    }

    /// The path for messages.
    func path(_ names: [FileName]) -> String {
        names.reduce(root.path) { "\($0)/\($1)" }
    }
}
