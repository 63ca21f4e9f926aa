internal import FuseMount
internal import ReplicaModel

/// Clearing set-user-ID and set-group-ID where the kernel leaves it to us.
extension DomainFileSystem {
    /// Clears set-user-ID and set-group-ID, if set, like a write by another user. A file that was replaced since it was
    /// opened is left to the kernel, which clears the bits at the write below.
    func clearSetID(of item: KernelItem, for writer: WriterPrivileges) throws(ReplicaError) {
        do throws(ReplicaError) {
            guard try replica.attributes(of: item).status.hasSetID else { return }
            var change = AttributeChange()
            change.clearsSetID = writer.keepsSetGroupID
            _ = try replica.setAttributes(change, of: item)
        } catch .errno(.stale) {
            return
        }
    }

    /// The same for calls of which the kernel does not tell whether the bits may be kept.
    func clearSetIDUnlessKept(of item: KernelItem, by context: RequestContext) throws(ReplicaError) {
        let writer = WriterPrivileges(context)
        if !writer.keepsSetID { try clearSetID(of: item, for: writer) }
    }
}
