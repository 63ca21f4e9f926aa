/// An invalid packet of a server, with the reason.
struct MalformedPacket: Error, Hashable {
    let reason: String
}

/// Reads the fields of a packet, checking that enough bytes are left for each.
struct FieldReader {
    private(set) var left: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        left = bytes
    }

    var isAtEnd: Bool { left.isEmpty }

    mutating func byte() throws(MalformedPacket) -> UInt8 {
        guard let byte = left.popFirst() else { throw MalformedPacket(reason: "it ends within a field") }
        return byte
    }

    mutating func uint32() throws(MalformedPacket) -> UInt32 {
        try bytes(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func uint64() throws(MalformedPacket) -> UInt64 {
        try bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Bytes preceded by their count.
    mutating func string() throws(MalformedPacket) -> ArraySlice<UInt8> {
        try bytes(Int(try uint32()))
    }

    private mutating func bytes(_ count: Int) throws(MalformedPacket) -> ArraySlice<UInt8> {
        guard count <= left.count else { throw MalformedPacket(reason: "it ends within a field") }
        defer { left = left.dropFirst(count) }
        return left.prefix(count)
    }
}
