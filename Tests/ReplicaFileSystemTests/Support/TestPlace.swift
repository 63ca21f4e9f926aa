import Glibc
import ReplicaModel
import SystemPackage

/// The folders of a test, in one of their own on the disk.
struct TestPlace: Sendable {
    let base: String
    var folders: StateFolders { StateFolders(root: FilePath(base + "/state")) }
    /// Where it is mounted.
    var mount: String { base + "/mnt" }
    /// The backing tree.
    var tree: String { base + "/state/tree" }
    /// A folder without a mount, for comparison.
    var plain: String { base + "/plain" }

    init() throws {
        var template = Array("/var/tmp/replica-fs-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        base = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        chmod(base, 0o755)
        for name in ["/state", "/state/tree", "/mnt", "/plain"] { mkdir(base + name, 0o755) }
        chmod(base + "/state", 0o700)
    }
}

/// Removes a folder with all that is in it.
func removeTree(_ path: String) {
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: 256) { FileName(cString: $0) }
        }
        guard name.bytes != [0x2E], name.bytes != [0x2E, 0x2E] else { continue }
        let isGone = name.withCString { unlinkat(dirfd(folder), $0, 0) } == 0
        if !isGone { removeTree(inside: dirfd(folder), name) }
    }
    closedir(folder)
    rmdir(path)
}

private func removeTree(inside folder: Int32, _ name: FileName) {
    let opened = name.withCString { openat(folder, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) }
    guard opened >= 0 else { return }
    removeTree("/proc/self/fd/\(opened)/.")
    close(opened)
    _ = name.withCString { unlinkat(folder, $0, AT_REMOVEDIR) }
}
