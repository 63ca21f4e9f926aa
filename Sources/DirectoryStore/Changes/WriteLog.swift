import ReplicaModel

/// The files that were written while they were watched: size and modification time may be unchanged. A write through one name of a
/// file counts for all of its names.
struct WriteLog {
    /// The last write that was observed.
    private struct Write {
        /// In the ``ChangeLog``.
        var sequence: Int
        /// The file's change time then.
        var changed: Int64
    }
    private var writes: [ItemKey: Write] = [:]

    /// The maximum number of entries; older ones were reported long ago.
    private static let longest = 200_000

    mutating func add(_ key: ItemKey, sequence: Int, changed: Int64) {
        writes[key.file] = Write(sequence: sequence, changed: changed)
        guard writes.count > Self.longest else { return }
        let middle = writes.values.map(\.sequence).sorted()[Self.longest / 2]
        writes = writes.filter { $0.value.sequence > middle }
    }

    /// Whether a file was written after a position in the change log.
    func has(_ key: ItemKey, after sequence: Int) -> Bool { writes[key.file].map { $0.sequence > sequence } ?? false }

    /// Whether a file was written after it had this change time.
    func has(_ key: ItemKey, since changed: Int64) -> Bool { writes[key.file].map { $0.changed > changed } ?? false }
}
