/// Writes fields into a packet.
struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    init(reserving count: Int = 64) {
        bytes.reserveCapacity(count)
    }

    mutating func add(_ byte: UInt8) { bytes.append(byte) }

    mutating func add(_ number: UInt32) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Bytes preceded by their count.
    mutating func add(string: some Collection<UInt8>) {
        add(UInt32(string.count))
        bytes.append(contentsOf: string)
    }

    /// Overwrites the number at `offset`.
    mutating func set(_ number: UInt32, at offset: Int) {
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
    }
}
