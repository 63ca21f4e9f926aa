internal import SystemPackage

extension Replica {
    /// The target of a symlink.
    package func target(of item: some ItemReference) throws(ReplicaError) -> [UInt8] {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(item)
            guard node.kind == .symlink else { throw .errno(.invalidArgument) }
            let place = try tree.place(of: node)
            return try errnos { () throws(Errno) in try place.target() }
        }
    }
}
