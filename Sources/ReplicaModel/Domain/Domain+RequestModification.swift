package import SystemPackage

extension Domain {
    /// Uploads an item again although it has not changed: at least these of its fields, if it has them (statement 41).
    /// The store may decide differently now, and may also answer ``RemoteStoreError/excludedFromSync``. Returns when
    /// the request would survive a crash, not when it was sent.
    /// - Throws: ENOENT; ENOTDIR; the errors of ``list(_:)`` if a folder on the path was never listed; ENODATA for
    ///   `contents` that are not completely local, or of an item that is not a file; EINVAL for the root, a special
    ///   file or an empty set of fields; EIO if the database can't be written.
    package func requestModification(of fields: ItemFields, at path: [FileName]) async throws(Errno) {
        let held = try await hold(path, listing: true)
        defer { release(held) }
        do throws(ReplicaError) {
            try replica.requestModification(of: fields, held.number)
        } catch {
            throw error.errno
        }
        do {
            try replica.record()
        } catch {
            throw Errno(state: error)
        }
        wakeSignal.signal()
    }
}

extension Replica {
    fileprivate func requestModification(of fields: ItemFields, _ number: ItemNumber) throws(ReplicaError) {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[number] else { throw .errno(.noSuchFileOrDirectory) }
            let wanted = fields.intersection(.ofNew(node.kind))
            guard node !== tree.root, !node.flags.contains(.special) else { throw .errno(.invalidArgument) }
            if fields.contains(.contents), node.kind != .file || node.materialization != .whole {
                throw .errno(.noData)
            }
            guard !wanted.isEmpty else { throw .errno(.invalidArgument) }
            tree.edit(node, wanted)
        }
    }
}
