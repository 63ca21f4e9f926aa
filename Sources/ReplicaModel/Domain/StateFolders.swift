internal import Glibc
package import SystemPackage

/// Where a domain keeps its things (MODEL.md#layout): one folder, mode 0700, on the filesystem of the tree.
/// Large: each method is one change of the folders; it stores their path only.
package struct StateFolders: Sendable, Hashable {
    /// The domain's folder.
    package let root: FilePath

    package init(root: FilePath) {
        self.root = root
    }

    /// The backing tree, under the user's own names.
    package var tree: FilePath { root.appending("tree") }
    package var database: FilePath { root.appending("replica.db") }
    /// Downloads and snapshots on their way; emptied at start.
    package var staging: FilePath { root.appending("staging") }
    /// What was preserved from a deletion.
    package var kept: FilePath { root.appending("kept") }
    /// What the store deleted lately, by item number: given back when it turns out to be too much.
    package var deleted: FilePath { root.appending("deleted") }
    package var controlSocket: FilePath { root.appending("control.sock") }
    package var settings: FilePath { root.appending("domain.json") }
    /// Locked by the one process that serves the domain.
    package var lock: FilePath { root.appending("lock") }

    /// What the marks of this domain's placeholders say; see ``DatalessMark``.
    var mark: FilePath { root.appending("mark") }

    /// Makes what is missing but the tree.
    package func make() throws(Errno) {
        for folder in [root, staging, kept, deleted] {
            let made = folder.withPlatformString { mkdir($0, 0o700) }
            guard made == 0 || Errno.last == .fileExists else { throw .last }
        }
    }
}
