/// The kernel dropped `count` of its lookups of `node`. At zero it no longer references the node.
public struct Forget: Sendable {
    public let node: NodeID
    public let count: UInt64

    public init(node: NodeID, count: UInt64) {
        self.node = node
        self.count = count
    }
}
