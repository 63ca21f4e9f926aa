import CLinux
import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// Makes domains on the disk: a state folder, `domain.json` in it, and a tree, which makes it a domain (design.md §3).
enum DomainSetup {
    /// Makes a domain with an empty tree.
    static func add(_ name: DomainName, _ store: StoreURL, _ options: MountOptions, in root: DomainDirectory)
        throws(ControlFailure) -> DomainLocation
    {
        let state = options.state ?? root.root.appending(name.text)
        return try make(name, store, options, state, root) { (folders) throws(Errno) in try folders.makeDomain() }
    }

    /// Makes a domain of a directory by one rename. Where the usual place is on another filesystem, the state goes
    /// beside the directory, with a link at the usual place.
    static func importDirectory(
        _ directory: FilePath, _ name: DomainName, _ store: StoreURL, _ options: MountOptions, in root: DomainDirectory
    ) throws(ControlFailure) -> DomainLocation {
        let usual = options.state ?? root.root.appending(name.text)
        do throws(ControlFailure) {
            return try make(name, store, options, usual, root) { (folders) throws(Errno) in
                try folders.importDomain(from: directory)
            }
        } catch {
            guard error.message.hasSuffix(Self.elsewhere), options.state == nil else { throw error }
        }
        let beside = directory.removingLastComponent().appending(".\(name.text).replica")
        return try make(name, store, options, beside, root) { (folders) throws(Errno) in
            try folders.importDomain(from: directory)
        }
    }

    private static let elsewhere = "lies on another filesystem"

    private static func make(
        _ name: DomainName, _ store: StoreURL, _ options: MountOptions, _ state: FilePath, _ root: DomainDirectory,
        _ makeTree: (StateFolders) throws(Errno) -> Void
    ) throws(ControlFailure) -> DomainLocation {
        let folders = StateFolders(root: state)
        var isThere = Glibc.stat()
        guard stat(folders.tree.string, &isThere) != 0 else {
            throw ControlFailure(.domainExists, "there is a domain in \(state) already")
        }
        _ = try StoreFactory.openNew(store)
        let record = DomainRecord(name: name, store: store, options: options.domain.texts)
        do {
            try makeFolders(state.removingLastComponent())
            try folders.make()
            try write(try record.json(), to: folders.settings)
            if state.removingLastComponent() != root.root { try link(name, to: state, in: root) }
        } catch {
            throw ControlFailure(.failed, "\(state): \(error)")
        }
        do throws(Errno) {
            try makeTree(folders)
        } catch {
            undo(folders, name, root)
            throw failure(error)
        }
        return DomainLocation(name: name, state: state, record: record)
    }

    private static func failure(_ errno: Errno) -> ControlFailure {
        switch errno {
        case .improperLink: ControlFailure(.cannotImport, "the directory \(elsewhere)")
        case .notDirectory: ControlFailure(.cannotImport, "only a directory can be imported")
        case .noSuchFileOrDirectory: ControlFailure(.cannotImport, "there is no such directory")
        case .resourceBusy: ControlFailure(.cannotImport, "a mount point cannot be imported: unmount it first")
        case .notPermitted: ControlFailure(.cannotImport, "the directory is another user's")
        case .invalidArgument: ControlFailure(.cannotImport, "the directory is in a domain or holds one")
        case .fileExists: ControlFailure(.domainExists, "the domain exists already")
        default: ControlFailure(.cannotImport, "\(errno)")
        }
    }

    /// Nothing is left of a domain that was not made.
    private static func undo(_ folders: StateFolders, _ name: DomainName, _ root: DomainDirectory) {
        unlink(folders.settings.string)
        for folder in [folders.staging, folders.kept, folders.root] { rmdir(folder.string) }
        let entry = root.root.appending(name.text)
        if entry != folders.root { unlink(entry.string) }
    }

    private static func makeFolders(_ path: FilePath) throws(Errno) {
        guard mkdir(path.string, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, !path.removingLastComponent().isEmpty else { throw Errno(rawValue: errno) }
        try makeFolders(path.removingLastComponent())
        guard mkdir(path.string, 0o700) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
    }

    private static func link(_ name: DomainName, to state: FilePath, in root: DomainDirectory) throws(Errno) {
        try makeFolders(root.root)
        guard symlink(state.string, root.root.appending(name.text).string) == 0 || errno == EEXIST else {
            throw Errno(rawValue: errno)
        }
    }

    private static func write(_ bytes: [UInt8], to path: FilePath) throws(Errno) {
        let file = open(path.string, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Errno(rawValue: errno) }
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
            throw Errno(rawValue: errno)
        }
    }
}
