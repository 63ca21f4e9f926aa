import FoundationEssentials

/// Version of the protocol below. It is increased when an old client or daemon would misread a message, but not for new
/// requests and new optional fields.
package let controlProtocolVersion = 1

/// One line from a client: a request with the ID that is repeated in its replies.
package struct RequestLine: Codable, Equatable, Sendable {
    /// ``controlProtocolVersion`` of the client.
    package var `protocol`: Int
    /// Chosen by the client; unique among the requests in progress on this connection.
    package var id: Int
    package var request: ControlRequest

    /// A request in this program's protocol version.
    package init(id: Int, request: ControlRequest) {
        self.protocol = controlProtocolVersion
        self.id = id
        self.request = request
    }
}

/// One line from the daemon: any number of events, then one answer or one failure.
package struct ReplyLine: Codable, Equatable, Sendable {
    /// The request's ID; 0 if the line could not be parsed as a request.
    package var id: Int
    package var event: ControlEvent?
    package var answer: ControlAnswer?
    package var failure: ControlFailure?

    /// An event.
    package init(id: Int, event: ControlEvent) {
        self.id = id
        self.event = event
    }

    /// A successful end.
    package init(id: Int, answer: ControlAnswer) {
        self.id = id
        self.answer = answer
    }

    /// A failure.
    package init(id: Int, failure: ControlFailure) {
        self.id = id
        self.failure = failure
    }
}

/// The part of a request line that every version has.
private struct VersionOnly: Decodable {
    var `protocol`: Int
}

/// The encoding of messages: lines of JSON.
package enum ControlCodec {
    /// The longest line that either side accepts, in bytes without the newline.
    package static let longest = 1 << 20

    /// The message in one line, with the newline at its end.
    package static func encode(_ message: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return Array(try encoder.encode(message)) + [UInt8(ascii: "\n")]
    }

    /// The message in a line, with or without the newline.
    package static func decode<Message: Decodable>(_ type: Message.Type, from line: some Sequence<UInt8>) throws
        -> Message
    {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(line))
    }

    /// Parses a request of any version. The version is checked first, so that a newer client gets an appropriate error
    /// instead of a parse error.
    package static func decodeRequest(_ line: some Sequence<UInt8>) throws(ControlFailure) -> RequestLine {
        let bytes = Array(line)
        let version: VersionOnly
        do { version = try decode(VersionOnly.self, from: bytes) } catch {
            throw ControlFailure(.wrongProtocol, "not a request: a JSON object with protocol, id and request")
        }
        guard version.protocol == controlProtocolVersion else {
            throw ControlFailure(
                .wrongProtocol,
                "the daemon speaks protocol \(controlProtocolVersion), the client \(version.protocol)")
        }
        do { return try decode(RequestLine.self, from: bytes) } catch {
            throw ControlFailure(.wrongProtocol, "the daemon does not know this request")
        }
    }
}
