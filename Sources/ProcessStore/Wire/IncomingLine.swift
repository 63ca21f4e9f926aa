import ChildProcess
import Foundation

/// The part of a store's line that identifies its call.
struct IncomingLine: Decodable {
    /// What is wrong with a line, for the log.
    struct Malformed: Error {
        let reason: String
    }

    /// A signal's folder; an invalid path counts as anywhere.
    struct Signal: Decodable {
        let path: WireText?

        private enum Key: String, CodingKey {
            case path, path64
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            path = try WireText(container, .path, .path64)
        }
    }

    let id: Int64?
    let hasResult: Bool
    let error: WireError?
    let progress: Int64?
    let wrote: [Int64]?
    let signal: Signal?
    /// Whether the store is still being opened.
    let isOpening: Bool

    private enum Key: String, CodingKey {
        case id, result, error, progress, wrote, signal, opening
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        id = try container.decodeIfPresent(Int64.self, forKey: .id)
        hasResult = container.contains(.result)
        error = try container.decodeIfPresent(WireError.self, forKey: .error)
        progress = try container.decodeIfPresent(Int64.self, forKey: .progress)
        wrote = try container.decodeIfPresent([Int64].self, forKey: .wrote)
        signal = try container.decodeIfPresent(Signal.self, forKey: .signal)
        isOpening = try container.decodeIfPresent(Bool.self, forKey: .opening) ?? false
    }

    /// - Throws: ``Malformed``.
    static func read(_ bytes: [UInt8]) throws(Malformed) -> IncomingLine {
        try Self.read(IncomingLine.self, bytes)
    }

    /// - Throws: ``Malformed`` if it is not JSON of this form in UTF-8.
    static func read<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws(Malformed) -> Value {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw Malformed(reason: "a line that is not UTF-8")
        }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw Malformed(reason: Self.words(error))
        } catch {
            throw Malformed(reason: "a line that is not valid JSON")
        }
    }

    private static func words(_ error: DecodingError) -> String {
        func place(_ context: DecodingError.Context) -> String {
            SanitizedText.of(context.codingPath.map(\.stringValue).joined(separator: "."), longest: 100)
        }
        switch error {
        case .keyNotFound(let key, let context):
            let above = place(context)
            return
                "a line without \(above.isEmpty ? "" : above + ".")\(SanitizedText.of(key.stringValue, longest: 100))"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "a line whose \(place(context)) has the wrong type"
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            return "a line whose \(place(context)) cannot be read"
        default: return "a line that is not valid JSON"
        }
    }
}

/// The result of an answer.
struct ResultLine<Result: Decodable>: Decodable {
    let result: Result
}

/// A result that is ignored.
struct NoResult: Decodable {
    init(from decoder: any Decoder) throws {}
}
