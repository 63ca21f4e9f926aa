/// A server's answer to a request.
enum SFTPReply: Hashable, Sendable {
    case status(SFTPStatus)
    case handle([UInt8])
    case data(ArraySlice<UInt8>)
    case names([Name])
    case attributes(SFTPAttributes)
    case extended(ArraySlice<UInt8>)

    /// An entry of a folder, or a path.
    struct Name: Hashable, Sendable {
        var bytes: [UInt8]
        var attributes: SFTPAttributes
    }

    private enum Kind {
        static let status: UInt8 = 101
        static let handle: UInt8 = 102
        static let data: UInt8 = 103
        static let names: UInt8 = 104
        static let attributes: UInt8 = 105
        static let extended: UInt8 = 201
    }

    /// In bytes, encoded as in the protocol.
    private static let longestHandle = 256

    /// Reads a packet without its length field.
    /// - Returns: The request ID, and the answer.
    static func read(_ packet: [UInt8]) throws(MalformedPacket) -> (number: UInt32, reply: SFTPReply) {
        var reader = FieldReader(packet[...])
        let kind = try reader.byte()
        let number = try reader.uint32()
        switch kind {
        case Kind.status: return (number, .status(try SFTPStatus(reading: &reader)))
        case Kind.handle:
            let handle = try reader.string()
            guard handle.count <= longestHandle else { throw MalformedPacket(reason: "a handle is too long") }
            return (number, .handle(Array(handle)))
        case Kind.data: return (number, .data(try reader.string()))
        case Kind.names: return (number, .names(try names(&reader)))
        case Kind.attributes: return (number, .attributes(try SFTPAttributes(reading: &reader)))
        case Kind.extended: return (number, .extended(reader.left))
        default: throw MalformedPacket(reason: "it has the unknown type \(kind)")
        }
    }

    /// Reads as many entries as there are bytes for, regardless of the count.
    private static func names(_ reader: inout FieldReader) throws(MalformedPacket) -> [Name] {
        var names: [Name] = []
        for _ in 0..<(try reader.uint32()) {
            let name = Array(try reader.string())
            // Like a line of `ls -l`, for users.
            _ = try reader.string()
            names.append(Name(bytes: name, attributes: try SFTPAttributes(reading: &reader)))
        }
        return names
    }
}
