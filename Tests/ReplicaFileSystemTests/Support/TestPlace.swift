import Glibc
import ReplicaModel
import ReplicaTestSupport
import SystemPackage

/// The folders of a test, removed with its last reference.
struct TestPlace: Sendable {
    private let folder: TemporaryFolder
    var base: String { folder.path.string }
    var folders: StateFolders { StateFolders(root: FilePath(base + "/state")) }
    /// Where it is mounted.
    var mount: String { base + "/mnt" }
    /// The backing tree.
    var tree: String { base + "/state/tree" }
    /// A folder without a mount, for comparison.
    var plain: String { base + "/plain" }

    init() throws {
        folder = try TemporaryFolder(mode: 0o755)
        for name in ["/state", "/state/tree", "/mnt", "/plain"] { mkdir(base + name, 0o755) }
        chmod(base + "/state", 0o700)
    }
}
