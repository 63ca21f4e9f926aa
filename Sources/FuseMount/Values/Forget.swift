/// The kernel dropped `count` of the lookups it had of `node`. At zero it knows the node no more.
public struct Forget: Sendable {
    public let node: NodeID
    public let count: UInt64

    public init(node: NodeID, count: UInt64) {
        self.node = node
        self.count = count
    }
}
