import ChildProcess

/// The error of a store's answer. Invalid parts are ignored: an error stays an error.
struct WireError: Decodable, Sendable {
    let code: String
    /// One line for the user, without control characters.
    let text: String?
    /// Seconds, at least 0.
    let pause: Double
    /// For the level `path`.
    let entry: WireEntry?
    /// For the level `item`.
    let item: WireItem?
    /// An identifier, for the level `item`.
    let of: String?

    private enum Key: String, CodingKey {
        case code, message, after, entry, item, of
    }

    init(code: String, text: String? = nil) {
        self.code = code
        self.text = text
        (pause, entry, item, of) = (0, nil, nil, nil)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func value<Value: Decodable>(_ type: Value.Type, _ key: Key) -> Value? {
            // A part of the wrong type is ignored; the rest is used.
            try? container.decodeIfPresent(type, forKey: key)
        }
        code = value(String.self, .code) ?? ""
        text = value(String.self, .message).flatMap { $0.isEmpty ? nil : SanitizedText.of($0) }
        let after = value(Double.self, .after) ?? 0
        pause = after.isFinite ? min(max(after, 0), 86_400) : 0
        entry = value(WireEntry.self, .entry)
        item = value(WireItem.self, .item)
        of = value(String.self, .of)
    }
}
