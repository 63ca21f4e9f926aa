import FoundationEssentials

/// The contents of `STATE/domain.json`: enough to find and start a domain without opening its database. No secrets.
package struct DomainRecord: Codable, Equatable, Sendable {
    /// Version of the file format. A greater number than ours is rejected.
    package var format: Int
    /// The domain's name.
    package var name: String
    /// The store's URL.
    package var store: String
    /// Mount options that belong to the domain rather than to one mount, as written: `cache-max=10G`.
    package var options: [String]

    /// The format that this program writes.
    package static let currentFormat = 1

    /// A record for a new domain.
    package init(name: DomainName, store: StoreURL, options: [String] = []) {
        format = Self.currentFormat
        self.name = name.text
        self.store = store.text
        self.options = options
    }

    /// Whether the domain was created for this URL, in the same spelling.
    package func isStored(underExactly store: StoreURL) -> Bool { self.store.utf8.elementsEqual(store.text.utf8) }

    /// Whether this is its store, in whichever spelling.
    package func isStored(at store: StoreURL) -> Bool {
        do { return try StoreURL(self.store).isSame(as: store) } catch { return isStored(underExactly: store) }
    }

    /// Reads the bytes of a `domain.json`.
    package init(json: [UInt8]) throws {
        self = try JSONDecoder().decode(DomainRecord.self, from: Data(json))
        guard format <= Self.currentFormat else { throw DomainRecordError.newerFormat(format) }
    }

    /// The bytes of a `domain.json`, readable by users.
    package func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}

/// What is wrong with a `domain.json`.
package enum DomainRecordError: Error, Equatable, CustomStringConvertible {
    /// Written by a newer program.
    case newerFormat(Int)

    package var description: String {
        switch self {
        case .newerFormat(let format):
            "domain.json has format \(format), this program knows \(DomainRecord.currentFormat): update it"
        }
    }
}
