internal import CFuse

/// The answer to a lookup: the node, and how long the kernel may cache it.
///
/// Each entry that is answered increments the kernel's lookup count of the node; `forget` decrements it.
/// Entries in a readdirplus listing count too, except `.` and `..`.
public struct Entry: Sendable {
    /// The node; 0 means "no such name", to be cached for ``entryTimeout`` seconds.
    public var node: NodeID
    /// Distinguishes uses of the same node number (NFS export). Usually 0.
    public var generation: UInt64
    public var attributes: Attributes
    /// How long the name may be cached, in seconds; 0 for not at all.
    public var entryTimeout: Double
    /// How long the attributes stay valid, in seconds.
    public var attributeTimeout: Double

    public init(
        node: NodeID, generation: UInt64 = 0, attributes: Attributes, entryTimeout: Double = 1,
        attributeTimeout: Double = 1
    ) {
        self.node = node
        self.generation = generation
        self.attributes = attributes
        self.entryTimeout = entryTimeout
        self.attributeTimeout = attributeTimeout
    }

    /// "No such name", cached by the kernel for `timeout` seconds.
    /// ENOENT means the same, but is not cached.
    public static func negative(timeout: Double) -> Entry {
        Entry(node: 0, attributes: Attributes(ino: 0, mode: 0), entryTimeout: timeout, attributeTimeout: 0)
    }

    var parameters: fuse_entry_param {
        fuse_entry_param(
            ino: node, generation: generation, attr: attributes.status, attr_timeout: attributeTimeout,
            entry_timeout: entryTimeout)
    }
}
