import ChildProcess

/// The error of a store's answer. What has no place in it counts as left out: an error is an error.
struct WireError: Decodable, Sendable {
    let code: String
    /// One line for a person, without what a terminal would obey.
    let text: String?
    /// Seconds, 0 and more.
    let pause: Double
    /// Of the level `path`.
    let entry: WireEntry?
    /// Of the level `item`.
    let item: WireItem?
    /// An identifier, of the level `item`.
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
        text = value(String.self, .message).flatMap { $0.isEmpty ? nil : PlainText.of($0) }
        let after = value(Double.self, .after) ?? 0
        pause = after.isFinite ? min(max(after, 0), 86_400) : 0
        entry = value(WireEntry.self, .entry)
        item = value(WireItem.self, .item)
        of = value(String.self, .of)
    }
}
