/// Cuts what comes from a server into packets, none of them longer than ``longest``.
struct PacketBuffer {
    /// In bytes, without the length before it: what OpenSSH has as its most, and the fields beside a content.
    static let longest = 257 << 10

    private var bytes: [UInt8] = []
    /// Where the packet begins that is not complete.
    private var start = 0

    /// Takes what came and hands over each packet that is complete now, without the length before it.
    /// - Throws: For a length that can't be. Nothing can be read after it.
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

    /// How many bytes wait for the rest of their packet.
    var waiting: Int { bytes.count - start }
    /// The beginning of what waits, for a message about it.
    var beginning: [UInt8] { Array(bytes[start...].prefix(64)) }
}
