internal import CLinux
internal import Glibc
internal import SystemPackage

/// The kernel checks permissions against the attributes that it has, which are those of one particular file. If the
/// file is exchanged in the backing tree, the new one under the same name may be readable only by root.
///
/// Therefore each node ID of the kernel stands for one backing file. If another file takes its place, the item gets a
/// new generation, and with it a new node ID, and a call that was allowed for the former file fails with ESTALE: the
/// kernel then looks the name up again and checks permissions again.
extension Tree {
    /// How often a file may be exchanged while the kernel knows it: a node ID contains 20 bits of the generation, and
    /// no node ID may ever stand for another file.
    private static let mostGenerations = KernelItem.mask

    /// Records the backing file of the node whose attributes the kernel is about to get.
    /// - Returns: The node that holds the kernel's references to the file: it may be another of its names.
    /// - Throws: ESTALE if it was exchanged too often.
    @discardableResult
    func noteKernelFile(_ status: FileStatus, as node: Node) throws(ReplicaError) -> Node {
        let known = items.holder(of: node)
        let identity = FileIdentity(status)
        guard known.lookups > 0 || known.opens > 0, let kernelFile = known.kernelFile, kernelFile != identity else {
            setKernelFile(identity, of: known)
            return known
        }
        guard node.parent != nil, known.generation < Self.mostGenerations else {
            throw .errno(.stale)
        }
        if items.names(of: node).count > 1 {
            // Its other names still belong to the old file.
            separate(node)
            setKernelFile(identity, of: node)
            // The node whose number they all had keeps it, and what the kernel knows by it is the old file.
            if node.lookups > 0 || node.opens > 0 { node.generation += 1 }
            return node
        }
        setKernelFile(identity, of: known)
        known.generation += 1
        return known
    }

    /// Forgets what is known of the former file: a node's descriptor is always that of the file that the kernel knows.
    private func setKernelFile(_ identity: FileIdentity, of node: Node) {
        guard node.kernelFile != identity else { return }
        node.kernelFile = identity
        (node.hasDefaultACL, node.lacksCapability) = (nil, false)
        closeDescriptor(of: node)
    }

    /// Throws unless a held file is the one that the kernel knows for the node, because its permission check was made
    /// for that one.
    /// - Throws: ESTALE if it is another file.
    func demandKernelFile(_ status: FileStatus, as node: Node) throws(ReplicaError) {
        guard let kernelFile = items.holder(of: node).kernelFile, kernelFile != FileIdentity(status) else { return }
        try noteKernelFile(status, as: node)
        throw .errno(.stale)
    }

    /// Calls `body` with the node's file, if it is the one that the kernel knows.
    /// - Throws: ESTALE if it is another file, and the errors of `body`.
    func withFile<Result>(
        of node: Node, _ body: (HeldFile) throws(Errno) -> Result
    ) throws(ReplicaError) -> Result {
        let descriptor = try openKernelFile(node, CL_O_PATH)
        defer { close(descriptor) }
        return try errnos { () throws(Errno) in try body(HeldFile(descriptor: descriptor)) }
    }

    /// Opens the node's file, if it is the one that the kernel knows; any other file is left alone.
    /// - Parameter flags: Without `O_TRUNC`, which would.
    /// - Throws: ESTALE if it is another file.
    func openKernelFile(_ node: Node, _ flags: Int32) throws(ReplicaError) -> Int32 {
        let place = try place(of: node)
        let descriptor = try errnos { () throws(Errno) in try place.open(flags) }
        do throws(ReplicaError) {
            let status = try errnos { () throws(Errno) in
                let status = try FileStatus(descriptor: descriptor)
                try node.demandKind(of: status)
                return status
            }
            try demandKernelFile(status, as: node)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }
}

extension Node {
    /// Whether the kernel has references to it, and which file it has is known.
    var isKnownToKernel: Bool { kernelFile != nil && (lookups > 0 || opens > 0) }

    /// Throws unless the held file is the item's known file: the store's changes must never be applied to another file
    /// that replaced it.
    func demandKnown(_ status: FileStatus) throws(Errno) {
        guard FileIdentity(status) == FileIdentity(fingerprint) else { throw Errno.stale }
    }
}
