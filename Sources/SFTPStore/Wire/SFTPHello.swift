/// The server's greeting: `SSH_FXP_VERSION`.
struct SFTPHello: Hashable, Sendable {
    /// Names and versions.
    var extensions: [String: String] = [:]

    private static let kind: UInt8 = 2
    private static let mostExtensions = 256

    init(extensions: [String: String] = [:]) {
        self.extensions = extensions
    }

    /// Reads a packet without its length field.
    init(_ packet: [UInt8]) throws(MalformedPacket) {
        var reader = FieldReader(packet[...])
        guard try reader.byte() == Self.kind else { throw MalformedPacket(reason: "it is not a version packet") }
        let version = try reader.uint32()
        guard version == 3 else { throw MalformedPacket(reason: "the server speaks version \(version) instead of 3") }
        while !reader.isAtEnd, extensions.count < Self.mostExtensions {
            let name = String(decoding: try reader.string(), as: UTF8.self)
            extensions[name] = String(decoding: try reader.string(), as: UTF8.self)
        }
    }

    func has(_ name: String, _ version: String = "1") -> Bool { extensions[name] == version }
}

/// The maximum sizes that a server accepts and sends: the answer to `limits@openssh.com`.
struct TransferSizes: Hashable, Sendable {
    /// In bytes of content.
    var read = 32_768
    var write = 32_768

    /// For any server: packets stay below 256 KiB.
    static let most = 255 << 10

    /// The sizes that every server accepts.
    init() {}

    /// - Parameter reply: The part after the request ID.
    init(_ reply: ArraySlice<UInt8>) throws(MalformedPacket) {
        var reader = FieldReader(reply)
        _ = try reader.uint64()
        read = Self.chosen(try reader.uint64())
        write = Self.chosen(try reader.uint64())
    }

    /// 0 names no limit.
    private static func chosen(_ told: UInt64) -> Int {
        told == 0 ? 32_768 : Int(min(max(told, 1_024), UInt64(most)))
    }
}
