import Foundation

/// The daemon's greeting: which store to open.
package struct Greeting: Decodable, Sendable {
    /// As given by the user.
    package let url: String
    /// The spool folder for contents.
    package let spool: String
    /// A folder for the store's own data.
    package let state: String
    /// The secrets that the user gave in addition to the URL.
    package let secrets: [String: String]

    /// The part after `://` in the URL.
    package var rest: String {
        guard let range = url.firstRange(of: "://") else { return "" }
        return String(url[range.upperBound...])
    }

    /// Whether the daemon understands that the store is still being opened.
    package let takesOpening: Bool

    private enum Key: String, CodingKey {
        case opening, `protocol`, url, spool, state, secrets
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard try container.decode([Int].self, forKey: .protocol).contains(1) else {
            throw DecodingError.dataCorruptedError(
                forKey: .protocol, in: container, debugDescription: "another protocol")
        }
        url = try container.decode(String.self, forKey: .url)
        spool = try container.decode(String.self, forKey: .spool)
        state = try container.decode(String.self, forKey: .state)
        secrets = try container.decodeIfPresent([String: String].self, forKey: .secrets) ?? [:]
        takesOpening = try container.decodeIfPresent(Bool.self, forKey: .opening) ?? false
    }
}
