/// Splits a server's output into packets of at most ``longest`` bytes.
struct PacketBuffer {
    /// In bytes, without the length field: OpenSSH's maximum, plus the fields beside a content.
    static let longest = 257 << 10

    private var bytes: [UInt8] = []
    /// Where the incomplete packet begins.
    private var start = 0

    /// Appends bytes and passes on each packet that is now complete, without its length field.
    /// - Throws: For an invalid length, after which nothing can be read.
    mutating func take(
        _ fresh: UnsafeRawBufferPointer, _ handle: ([UInt8]) throws(MalformedPacket) -> Void
    ) throws(MalformedPacket) {
        bytes.append(contentsOf: fresh)
        while bytes.count - start >= 4 {
            let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            guard (1...Self.longest).contains(length) else {
                throw MalformedPacket(reason: "a packet of \(length) bytes")
            }
            let end = start + 4 + length
            guard bytes.count >= end else { break }
            let packet = Array(bytes[start + 4..<end])
            start = end
            try handle(packet)
        }
        // Moved once for all packets of a read, not for each.
        bytes.removeFirst(start)
        start = 0
    }

    /// The number of bytes of the incomplete packet.
    var waiting: Int { bytes.count - start }
    /// The beginning of the incomplete packet, for a message.
    var beginning: [UInt8] { Array(bytes[start...].prefix(64)) }
}
