import ChildProcess

/// A server's status at the end of a request: `SSH_FXP_STATUS`.
struct SFTPStatus: Error, Hashable, Sendable {
    struct Code: RawRepresentable, Hashable, Sendable {
        let rawValue: UInt32
        static let ok = Code(rawValue: 0)
        static let endOfFile = Code(rawValue: 1)
        static let noSuchFile = Code(rawValue: 2)
        static let permissionDenied = Code(rawValue: 3)
        /// Any cause: an existing target, a full disk, a folder that is not empty.
        static let failure = Code(rawValue: 4)
        static let badMessage = Code(rawValue: 5)
        static let noConnection = Code(rawValue: 6)
        static let connectionLost = Code(rawValue: 7)
        static let unsupported = Code(rawValue: 8)
    }

    let code: Code
    /// The server's message, safe for a terminal; may be empty.
    let text: String

    init(code: Code, text: String = "") {
        self.code = code
        self.text = text
    }

    /// The message for users.
    var words: String {
        if !text.isEmpty { return text }
        switch code {
        case .noSuchFile: return "No such file"
        case .permissionDenied: return "Permission denied"
        case .unsupported: return "Operation unsupported"
        default: return "Failure (\(code.rawValue))"
        }
    }

    init(reading reader: inout FieldReader) throws(MalformedPacket) {
        code = Code(rawValue: try reader.uint32())
        // Servers before version 3 omit the message, and so do some current ones.
        text =
            reader.isAtEnd ? "" : SanitizedText.of(String(decoding: try reader.string(), as: UTF8.self), longest: 200)
    }
}
