/// A request or an answer of HTTP/1.1 in its wire form.
package struct HTTPMessage: Sendable {
    /// Its lines up to and including the empty one.
    var head: [UInt8]
    var body: [UInt8] = []

    /// The complete message.
    var bytes: [UInt8] { head + body }

    private var lines: [Substring] { String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline) }

    /// The words of the first line.
    package var words: [String] { lines.first?.split(separator: " ").map(String.init) ?? [] }

    /// A header's value, by its lower-case name.
    package subscript(name: String) -> String? {
        lines.dropFirst().first { $0.lowercased().hasPrefix(name + ":") }
            .map { String($0.dropFirst(name.utf8.count + 1).drop { $0 == " " }) }
    }

    /// Without a header.
    func without(_ name: String) -> HTTPMessage {
        var message = self
        let left = lines.filter { !$0.lowercased().hasPrefix(name + ":") }
        message.head = Array((left.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        return message
    }

    /// With another header.
    func with(_ line: String) -> HTTPMessage {
        var message = self
        message.head = Array(head.dropLast(2)) + Array("\(line)\r\n\r\n".utf8)
        return message
    }

    /// An answer.
    /// - Parameter headers: Each with its line end.
    static func answer(_ status: String, _ headers: String = "", _ body: String = "") -> HTTPMessage {
        let head = "HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n"
        return HTTPMessage(head: Array(head.utf8), body: Array(body.utf8))
    }
}

/// Reads messages from a socket.
struct HTTPReader {
    let socket: StreamSocket
    private var rest: [UInt8] = []

    init(_ socket: StreamSocket) { self.socket = socket }

    /// - Parameter expected: Called if the sender waits for `100 Continue` before the body.
    /// - Returns: Nil at the end.
    mutating func request(expected: () -> Void) -> HTTPMessage? {
        guard var message = head() else { return nil }
        let size = message["content-length"].flatMap { Int($0) } ?? 0
        if message["expect"]?.lowercased() == "100-continue" {
            expected()
            message = message.without("expect")
        }
        guard let body = take(size) else { return nil }
        message.body = body
        return message
    }

    /// - Parameter isHead: Whether it answers a HEAD request: then it has no body, regardless of its headers.
    mutating func answer(isHead: Bool) -> HTTPMessage? {
        guard var message = head() else { return nil }
        let status = message.words.dropFirst().first ?? ""
        if isHead || ["204", "304"].contains(status) { return message }
        if message["transfer-encoding"]?.lowercased() == "chunked" {
            guard let body = chunks() else { return nil }
            message.body = body
        } else if let size = message["content-length"].flatMap({ Int($0) }) {
            guard let body = take(size) else { return nil }
            message.body = body
        } else {
            // An answer may end with the connection; a request does not.
            while more() {}
            (message.body, rest) = (rest, [])
            message = message.with("Content-Length: \(message.body.count)")
        }
        return message
    }

    private mutating func head() -> HTTPMessage? {
        let end = Array("\r\n\r\n".utf8)
        guard let head = line(endingWith: end) else { return nil }
        return HTTPMessage(head: head)
    }

    /// Up to and including these bytes.
    private mutating func line(endingWith end: [UInt8]) -> [UInt8]? {
        var seen = 0
        while true {
            if rest.count >= end.count {
                for start in seen...(rest.count - end.count) where rest[start..<start + end.count].elementsEqual(end) {
                    return take(start + end.count)
                }
                seen = rest.count - end.count + 1
            }
            guard more() else { return nil }
        }
    }

    /// The chunks of a body in their wire form.
    private mutating func chunks() -> [UInt8]? {
        var body: [UInt8] = []
        let end = Array("\r\n".utf8)
        while true {
            guard let line = line(endingWith: end) else { return nil }
            let digits = String(decoding: line.dropLast(2).prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard let size = Int(digits, radix: 16), let chunk = take(size + 2) else { return nil }
            body += line + chunk
            if size == 0 { return body }
        }
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        while rest.count < count { guard more() else { return nil } }
        defer { rest.removeFirst(count) }
        return Array(rest.prefix(count))
    }

    private mutating func more() -> Bool {
        let bytes = socket.read(most: 1 << 18)
        rest += bytes
        return !bytes.isEmpty
    }
}
