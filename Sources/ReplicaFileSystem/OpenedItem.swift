internal import FuseMount
internal import Glibc
internal import ReplicaModel

/// An open file.
final class OpenedItem: Sendable {
    let node: NodeID
    let number: ItemNumber
    /// The item's generation when it was opened.
    let generation: UInt32
    let isWriter: Bool
    /// Whether all content was here when it was opened.
    let isWhole: Bool
    /// Opened below for reads, writes and the rest; -1 when the kernel does the reading and writing: what else comes
    /// opens the file again, so that open files don't cost a descriptor each.
    let descriptor: Int32
    let readAhead = Locked(ReadAhead())

    init(node: NodeID, below: OpenFile, descriptor: Int32) {
        self.node = node
        number = NodeNumber.item(node)
        generation = below.generation
        isWriter = below.isWriter
        isWhole = below.isWhole
        self.descriptor = descriptor
    }
}

/// How much more than asked for is fetched when a file is read that is not all here.
struct ReadAhead {
    /// Fetches begin and end at multiples of it, in bytes.
    private static let block: Int64 = 128 << 10
    /// The most that is fetched at once, in bytes.
    private static let most: Int64 = 16 << 20

    private var expected: Int64 = 0
    private var window = block

    /// What to fetch for a read of `wanted`: twice as much as before when reads go on where the last one ended.
    mutating func range(for wanted: Range<Int64>) -> Range<Int64> {
        window = wanted.lowerBound == expected ? min(window * 2, Self.most) : Self.block
        let start = wanted.lowerBound / Self.block * Self.block
        let end = max(wanted.upperBound, wanted.lowerBound + window)
        return start..<((end + Self.block - 1) / Self.block * Self.block)
    }

    /// Notes that `wanted` was read.
    mutating func advance(past wanted: Range<Int64>) {
        expected = wanted.upperBound
    }
}
