internal import FuseMount
internal import ReplicaModel

/// The kernel's node ID of an item: the item's number and, in the upper bits, the generation, so that a file that replaced
/// another is a different inode for the kernel while programs see the same `st_ino`.
enum NodeNumber {
    private static let shift: UInt64 = 44
    private static let mask: UInt64 = 1 << shift - 1

    static func of(_ number: ItemNumber, generation: UInt32 = 0) -> NodeID {
        number.rawValue & mask | UInt64(generation) << shift
    }

    /// The item, whichever file it has now.
    static func number(_ node: NodeID) -> ItemNumber { ItemNumber(node & mask) }

    /// The lower 20 bits of the generation.
    static func generation(_ node: NodeID) -> UInt32 { UInt32(node >> shift) }

    /// The item with the file that the kernel knows, for everything that a program asks for.
    static func item(_ node: NodeID) -> KernelItem { KernelItem(number(node), generation: generation(node)) }
}
