internal import CLinux

extension Tree {
    /// Keeps an open file, or a folder that may be a working directory, reachable after its name is gone.
    func keepReachable(_ node: Node) throws(ReplicaError) {
        let isUsed = node.kind == .folder ? node.lookups > 0 : node.opens > 0
        guard isUsed, node.descriptor < 0, items.names(of: node).count == 1 else { return }
        node.descriptor = try openKernelFile(node, CL_O_PATH)
    }
}
