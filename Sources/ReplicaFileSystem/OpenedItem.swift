internal import CLinux
internal import FuseMount
internal import Glibc
internal import ReplicaModel
internal import Threads

/// An open file.
final class OpenedItem: Sendable {
    let node: NodeID
    let number: ItemNumber
    /// The item's generation when it was opened.
    let generation: UInt32
    /// The item with the file that was opened.
    var item: KernelItem { NodeNumber.item(node) }
    let isWriter: Bool
    /// The backing file's descriptor; -1 if the kernel does the reading and writing: other operations
    /// reopen the file, so that open files do not cost a descriptor each.
    let descriptor: Int32
    /// Nil if all content was local when it was opened.
    private let reading: Locked<Reading>?

    init(node: NodeID, below: OpenFile, descriptor: Int32) {
        self.node = node
        number = NodeNumber.number(node)
        generation = below.generation
        isWriter = below.isWriter
        reading = below.placeholder.map { Locked(Reading(placeholder: $0), rank: .openFile) }
        self.descriptor = descriptor
    }

    /// Whether the item has another file by now than the one that was opened.
    func isStale(in replica: Replica) -> Bool {
        replica.presence(of: number, range: 0..<0, since: generation) == .stale
    }

    /// Whether a range is local and can be read from the descriptor. If nothing of the old content was local, the descriptor is
    /// reopened for the current content.
    /// - Throws: ESTALE if some of the old content was local; the errors of reopening the file.
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

    /// One at a time, so that the descriptor never reverts to an older file.
    private func renew(_ reading: inout Reading, _ replica: Replica) throws(ReplicaError) {
        let (fresh, current) = try replica.reopen(number, since: generation)
        defer { close(fresh) }
        guard cl_dup3(fresh, descriptor, O_CLOEXEC) >= 0 else { throw .errno(.last) }
        reading.placeholder = current
    }

    /// Records the version of bytes that are read without being kept, since nothing else records that they were read.
    /// - Returns: False if bytes of another version were read.
    func isSeen(_ version: String) -> Bool {
        reading?.withLock { reading in
            if reading.seen == nil { reading.seen = version }
            return reading.seen == version
        } ?? true
    }

    /// The range to fetch for a read of `wanted`, which is not local.
    func rangeToFetch(for wanted: Range<Int64>) -> Range<Int64> {
        reading?.withLock { $0.ahead.range(for: wanted) } ?? wanted
    }

    /// Records that `wanted` was read.
    func advance(past wanted: Range<Int64>) {
        reading?.withLock { $0.ahead.advance(past: wanted) }
    }
}

/// The state of reading a file that was not completely local when it was opened.
private struct Reading {
    /// The inode number of the descriptor's file. Before any of its content is local, another file may replace it.
    var placeholder: UInt64
    /// The version of bytes read without being kept; nil if there were none.
    var seen: String?
    var ahead = ReadAhead()
}
