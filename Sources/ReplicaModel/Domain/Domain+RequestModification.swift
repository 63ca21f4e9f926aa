package import SystemPackage

extension Domain {
    /// Uploads an item again although nothing has changed: at least these of its fields, if it has them (statement 41).
    /// This asks a store again that may decide differently now, and may also answer
    /// ``RemoteStoreError/excludedFromSync``. Returns when the request would survive a crash, not when it is sent.
    /// - Throws: ENOENT; ENOTDIR; what ``list(_:)`` throws where a folder on the way was never listed; ENODATA for
    ///   `contents` that are not all here, or of no file; EINVAL for the root, a special file or no field at all; EIO
    ///   when the database can't be written.
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
