internal import Glibc
package import SystemPackage

/// A domain's files (MODEL.md#layout): one folder, mode 0700, on the filesystem of the tree.
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
    /// Unfinished downloads and snapshots; emptied at start.
    package var staging: FilePath { root.appending("staging") }
    /// Files preserved from deletions.
    package var kept: FilePath { root.appending("kept") }
    /// Items that the store deleted recently, by number: restored if too many are deleted.
    package var deleted: FilePath { root.appending("deleted") }
    package var settings: FilePath { root.appending("domain.json") }
    /// Locked by the process that serves the domain.
    package var lock: FilePath { root.appending("lock") }

    /// The mark of this domain's placeholders; see ``DatalessMark``.
    var mark: FilePath { root.appending("mark") }

    /// Creates the missing folders, except the tree.
    package func make() throws(Errno) {
        for folder in [root, staging, kept, deleted] {
            let made = folder.withPlatformString { mkdir($0, 0o700) }
            guard made == 0 || Errno.last == .fileExists else { throw .last }
        }
    }
}
