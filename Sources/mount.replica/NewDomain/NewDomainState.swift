import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// Creates the contents of a new domain's state except the tree, step by step.
struct NewDomainState {
    let folders: StateFolders
    let creation: DomainCreation

    func makeFolders() throws {
        try makeFolders(above: folders.root)
        try said { try folders.rollBackLink() }
        try said {
            // Held until this process ends, or the step is rolled back.
            _ = try creation.run(.makeFolders) {
                try folders.makeNew()
            } undo: { held in
                defer { close(held) }
                try folders.rollBack()
            }
        }
    }

    func write(_ record: DomainRecord) throws {
        try said {
            let file = try FileDescriptor.open(
                folders.settings, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite)
            // It is removed with its folder.
            try creation.run(.writeRecord) {
                try file.closeAfter {
                    _ = try file.writeAll(try record.json())
                    guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
                }
            } undo: {
            }
        }
    }

    /// The entry in the domain directory, for a state elsewhere.
    func link(at entry: FilePath) throws {
        try makeFolders(above: entry)
        try creation.run(.makeLink) {
            guard symlink(folders.root.string, entry.string) == 0 else {
                throw ControlFailure(.failed, "\(entry) can't be created: \(Errno(rawValue: errno))")
            }
        } undo: {
            unlink(entry.string)
        }
    }

    /// The folders above a path.
    func makeFolders(above path: FilePath) throws {
        let folder = path.removingLastComponent()
        if try makeFolder(folder) { return }
        if !folder.isEmpty, folder != path {
            try makeFolders(above: folder)
            // In proc(5), the folder above is there all the same.
            if try makeFolder(folder) { return }
        }
        throw ControlFailure(.failed, "\(folder) can't be created: \(Errno.noSuchFileOrDirectory)")
    }

    /// - Returns: False if the folder above is missing.
    private func makeFolder(_ folder: FilePath) throws -> Bool {
        guard mkdir(folder.string, 0o700) == 0 else {
            switch errno {
            case EEXIST: return true
            case ENOENT: return false
            default: throw ControlFailure(.failed, "\(folder) can't be created: \(Errno(rawValue: errno))")
            }
        }
        // Another domain may have been created in it meanwhile.
        try creation.run(.makeFolders) {
        } undo: {
            rmdir(folder.string)
        }
        return true
    }

    private func said(_ body: () throws -> Void) throws {
        do { try body() } catch Errno.resourceBusy {
            throw ControlFailure(.busy, "another process is creating a domain at \(folders.root): try again")
        } catch let errno as Errno {
            guard errno == .fileExists else { throw ControlFailure(.failed, "\(folders.root): \(errno)") }
            guard !StateFileName.isWithoutRecord(folders.root) else {
                throw ControlFailure(
                    .domainExists, "\(folders.root) is a domain whose domain.json is missing: see 'replica doctor'")
            }
            throw ControlFailure(
                .domainExists,
                "\(folders.root) already exists and was not created by this program: move it away, or choose another name"
            )
        }
    }
}
