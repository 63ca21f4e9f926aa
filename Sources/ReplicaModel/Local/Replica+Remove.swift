internal import Glibc
internal import SystemPackage
internal import Threads

extension Replica {
    /// unlink(2), or rmdir(2) for `isFolder`.
    package func remove(_ name: FileName, in parent: some ItemReference, isFolder: Bool) throws(ReplicaError) {
        let isHeard = events.isHeard
        let gone = try withTreeWaking { (tree) throws(ReplicaError) -> [FileName]? in
            let folder = try tree.listed(parent)
            let node = try tree.existing(name, in: folder)
            guard isFolder == (node.kind == .folder) else {
                throw .errno(isFolder ? .notDirectory : .isDirectory)
            }
            if isFolder {
                guard node.materialization == .whole else { throw .needsListing(node.inodeNumber) }
                try tree.children(of: node)
            }
            try tree.demand(.deleting, of: node, else: .notPermitted)
            try tree.removeBelow(node)
            let path = isHeard ? tree.path(of: node) : nil
            tree.makeTombstone(node)
            return path
        }
        if let gone { post(.localDeletion, path: gone) }
    }
}
