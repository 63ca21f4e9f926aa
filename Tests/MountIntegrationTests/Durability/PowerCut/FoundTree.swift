import CLinux
import Glibc
import ReplicaTestSupport

/// The contents of a folder after a power cut, with the attributes that programs set.
struct FoundTree: Sendable {
    struct File: Equatable, Sendable {
        var content: [UInt8]
        var attributes: CutRecord.Attributes
        var inode: UInt64 = 0
    }
    enum Entry: Equatable, Sendable {
        case file(File)
        case folder
        case symlink(String)
    }
    var entries: [String: Entry] = [:]

    init(_ entries: [String: Entry]) { self.entries = entries }

    /// Reads a folder on disk, without a store's temporary files.
    init(readingFolder path: String) throws(FileTree.Failure) {
        for (name, entry) in try FileTree(readingFolder: path).entries {
            if name.split(separator: "/").contains(where: { $0.hasPrefix(".replica-tmp-") }) { continue }
            switch entry {
            case .folder: entries[name] = .folder
            case .symlink(let target): entries[name] = .symlink(target)
            case .file(let content):
                var status = stat()
                guard lstat("\(path)/\(name)", &status) == 0 else { throw FileTree.Failure("lstat \(path)/\(name)") }
                let attributes = CutRecord.Attributes(
                    mode: status.st_mode & 0o7777, mark: Self.mark(of: "\(path)/\(name)"))
                entries[name] = .file(File(content: content, attributes: attributes, inode: UInt64(status.st_ino)))
            }
        }
    }

    private static func mark(of path: String) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 256)
        let length = lgetxattr(path, CutRecord.attribute, &value, value.count)
        return length < 0 ? nil : Array(value.prefix(length))
    }
}
