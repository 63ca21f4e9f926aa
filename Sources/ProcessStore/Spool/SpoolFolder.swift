import ChildProcess
import Foundation
import Glibc
import Synchronization
import SystemPackage

/// The folder for exchanging contents with a store's process. The store may put anything there: each file is opened by
/// its name in the folder, without following links, and is only used if it is valid.
final class SpoolFolder: Sendable {
    let path: FilePath
    private let folder: OwnedDescriptor
    private let count = Atomic(0)

    /// Creates the folder with access for its owner only, or uses an existing one.
    /// - Throws: An `Errno`.
    init(_ path: FilePath) throws(Errno) {
        self.path = path
        if mkdir(path.string, 0o700) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
        folder = try OwnedDescriptor(checking: open(path.string, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
        var status = stat()
        guard fstat(folder.raw, &status) == 0 else { throw Errno(rawValue: errno) }
        guard status.st_uid == geteuid() else { throw .notPermitted }
        guard fchmod(folder.raw, 0o700) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Removes its contents, which are left from the last run. No process may be using it.
    func empty() {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path.string) else { return }
        // A file that can't be removed does no harm: names are not reused.
        for name in names { try? FileManager.default.removeItem(atPath: "\(path.string)/\(name)") }
    }

    /// A file for a call, removed by its last owner.
    func file(_ prefix: String) -> SpoolFile {
        SpoolFile(name: "\(prefix)\(count.add(1, ordering: .relaxed).newValue)", folder: folder)
    }
}
