internal import CLinux
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
    /// Opened below for reads, writes and the rest; -1 when the kernel does the reading and writing: what else comes
    /// opens the file again, so that open files don't cost a descriptor each.
    let descriptor: Int32
    /// Nil when all content was here when it was opened.
    private let reading: Locked<Reading>?

    init(node: NodeID, below: OpenFile, descriptor: Int32) {
        self.node = node
        number = NodeNumber.item(node)
        generation = below.generation
        isWriter = below.isWriter
        reading = below.placeholder.map { Locked(Reading(placeholder: $0), rank: .openFile) }
        self.descriptor = descriptor
    }

    /// Whether a range is here and can be read from the descriptor, which is made one of the file's present content if
    /// nothing of the former was here.
    /// - Throws: ESTALE when something of it was; what opening the file again throws.
    func holds(_ range: Range<Int64>, _ replica: Replica) throws(ReplicaError) -> Bool {
        guard let reading else { return true }
        while true {
            let (placeholder, seen) = reading.withLock { ($0.placeholder, $0.seen) }
            if let seen, seen != replica.contentVersion(of: number) { throw .errno(.stale) }
            switch replica.presence(of: number, range: range, since: generation, placeholder: placeholder) {
            case .here: return true
            case .absent: return false
            case .stale: throw .errno(.stale)
            case .exchanged: try reading.withLock { (reading) throws(ReplicaError) in try renew(&reading, replica) }
            }
        }
    }

    /// One at a time, so that the descriptor never goes back to an older file.
    private func renew(_ reading: inout Reading, _ replica: Replica) throws(ReplicaError) {
        let (fresh, current) = try replica.reopen(number, since: generation)
        defer { close(fresh) }
        guard cl_dup3(fresh, descriptor, O_CLOEXEC) >= 0 else { throw .errno(.last) }
        reading.placeholder = current
    }

    /// Notes which version's bytes are read that are not kept: of these nothing else tells that they were seen.
    /// - Returns: False when those of another were read.
    func isSeen(_ version: String) -> Bool {
        reading?.withLock { reading in
            if reading.seen == nil { reading.seen = version }
            return reading.seen == version
        } ?? true
    }

    /// What to fetch for a read of `wanted`, which is not here.
    func rangeToFetch(for wanted: Range<Int64>) -> Range<Int64> {
        reading?.withLock { $0.ahead.range(for: wanted) } ?? wanted
    }

    /// Notes that `wanted` was read.
    func advance(past wanted: Range<Int64>) {
        reading?.withLock { $0.ahead.advance(past: wanted) }
    }
}

/// How a file is read that was not all here when it was opened.
private struct Reading {
    /// The inode number of the file that the descriptor is of. Before anything of its content is here, another may take
    /// its place.
    var placeholder: UInt64
    /// The version of what was read and not kept; nil where nothing was.
    var seen: String?
    var ahead = ReadAhead()
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
        let end = max(wanted.upperBound, wanted.lowerBound.saturatingAdd(window))
        return start..<end.roundedUp(toMultipleOf: Self.block)
    }

    /// Notes that `wanted` was read.
    mutating func advance(past wanted: Range<Int64>) {
        expected = wanted.upperBound
    }
}
