import CLinux
import Glibc
import SystemPackage

@testable import ReplicaModel

/// What a directory holds, past the replica.
enum Disk {
    struct Entry: Equatable {
        var kind: ItemKind?
        var mode: UInt16
        var isDataless: Bool
        /// A file's content, or what a symlink points to.
        var bytes: [UInt8]

        var text: String { isDataless ? "dataless" : "\(kind.map { "\($0)" } ?? "special") \(Describe.content(bytes))" }
    }

    /// All entries below by path.
    static func entries(_ root: FilePath) throws -> [String: Entry] {
        var found: [String: Entry] = [:]
        func walk(_ folder: Int32, _ path: String) throws {
            for line in try BackingFolderListing(of: folder, mark: nil).lines {
                let place = BackingPath(folder: folder, name: line.name)
                let here = path + line.name.description
                // No mark is no error: the content is here then.
                let isDataless = line.status.kind == .file && (try? place.xattr(OwnXattr.dataless)) != nil
                var entry = Entry(
                    kind: line.status.kind, mode: line.status.permissions, isDataless: isDataless, bytes: [])
                switch line.status.kind {
                case .file: if !isDataless { entry.bytes = try read(place) }
                case .symlink: entry.bytes = try place.target()
                case .folder:
                    let inner = try place.open(CL_O_PATH | O_DIRECTORY)
                    defer { close(inner) }
                    try walk(inner, here + "/")
                case nil: break
                }
                found[here] = entry
            }
        }
        let folder = try Errno.check(root.withPlatformString { open($0, CL_O_PATH | O_DIRECTORY) })
        defer { close(folder) }
        try walk(folder, "")
        return found
    }

    static func read(_ place: BackingPath) throws -> [UInt8] {
        let file = try place.open(O_RDONLY)
        defer { close(file) }
        return try read(file)
    }

    static func read(_ file: Int32) throws -> [UInt8] {
        let size = Int(try FileStatus(descriptor: file).size)
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try Errno.check(pread(file, &bytes, size, 0))
        return Array(bytes.prefix(count))
    }

    static func write(_ bytes: [UInt8], to file: Int32) throws {
        guard try Errno.check(Glibc.write(file, bytes, bytes.count)) == bytes.count else { throw Errno.noSpace }
    }
}
