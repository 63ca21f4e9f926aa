import ChildProcess
import PathStore
import ReplicaModel

/// The version of the protocol that programs of stores speak (docs/STORE_PROTOCOL.md): "replica store 1".
package let storeProtocolVersion = 1

/// The daemon's first line.
struct HelloLine: OutgoingLine {
    let replica = 1
    let `protocol` = [storeProtocolVersion]
    /// Whether lines that the store is still being opened are understood. Daemons of before end a store that sends one.
    let opening = true
    let url: String
    let spool: String
    let state: String
    let options: [String: String]
    var secrets: [String: String]
}

/// A store's first line: its greeting.
struct Hello: Decodable, Sendable, Hashable {
    /// The calls that it supports.
    enum Level: Sendable, Hashable {
        case path(PathStorageProperties)
        case item(StoreProperties)
    }

    let level: Level
    /// For users.
    let name: String
    /// Whether names may be any bytes.
    let takesAnyNames: Bool
    /// Whether it signals changes.
    let signals: Bool
    /// Whether it knows its space.
    let tellsUsage: Bool

    private enum Key: String, CodingKey {
        case `protocol`, level, name, properties
    }

    private enum Common: String, CodingKey {
        case names, signals, usage
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard try container.decode(Int.self, forKey: .protocol) == storeProtocolVersion else {
            throw DecodingError.dataCorruptedError(
                forKey: .protocol, in: container, debugDescription: "another protocol")
        }
        name = SanitizedText.of(try container.decodeIfPresent(String.self, forKey: .name) ?? "", longest: 100)
        switch try container.decode(String.self, forKey: .level) {
        case "path": level = .path(try container.decode(WirePathProperties.self, forKey: .properties).properties)
        case "item": level = .item(try container.decode(WireItemProperties.self, forKey: .properties).properties)
        default:
            throw DecodingError.dataCorruptedError(forKey: .level, in: container, debugDescription: "an unknown level")
        }
        let common = try container.nestedContainer(keyedBy: Common.self, forKey: .properties)
        takesAnyNames = try common.decodeIfPresent(String.self, forKey: .names) == "bytes"
        signals = try common.decodeIfPresent(Bool.self, forKey: .signals) ?? false
        tellsUsage = try common.decodeIfPresent(Bool.self, forKey: .usage) ?? false
    }

    /// How many calls it serves concurrently.
    var concurrency: Int {
        switch level {
        case .path(let properties): properties.concurrency
        case .item(let properties): properties.concurrency
        }
    }
}

/// The first line of a store that can't be opened.
struct HelloError: Decodable {
    let error: WireError
}

/// The properties of the level `path`.
struct WirePathProperties: Decodable {
    let properties: PathStorageProperties

    private enum Key: String, CodingKey {
        case guards, keeps, changeGrain, listsAttributes, listsDeep, ids, folderVersions, ranges, caseSensitive
        case longestName, concurrency, usage
    }

    private struct Guards: Decodable {
        var create, replace, remove, move: String?
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let guards = try container.decodeIfPresent(Guards.self, forKey: .guards)
        let keeps = try container.decodeIfPresent([String].self, forKey: .keeps) ?? []
        let grain = try container.decodeIfPresent(Double.self, forKey: .changeGrain) ?? 1
        guard (0...86_400).contains(grain) else {
            throw DecodingError.dataCorruptedError(forKey: .changeGrain, in: container, debugDescription: "no grain")
        }
        var properties = PathStorageProperties()
        properties.createStrength = Self.strength(guards?.create)
        properties.replaceStrength = Self.strength(guards?.replace)
        properties.removeStrength = Self.strength(guards?.remove)
        properties.moveStrength = Self.strength(guards?.move)
        properties.changeGrain = Int64((grain * 1e9).rounded(.up))
        properties.keepsModes = keeps.contains("mode")
        properties.keepsModificationDates = keeps.contains("mtime")
        properties.keepsMarks = keeps.contains("mark")
        properties.keepsSymlinks = keeps.contains("symlink")
        properties.listsAttributes = try container.decodeIfPresent(Bool.self, forKey: .listsAttributes) ?? true
        properties.listsDeep = try container.decodeIfPresent(Bool.self, forKey: .listsDeep) ?? false
        properties.hasIdentities = try container.decodeIfPresent(Bool.self, forKey: .ids) ?? false
        properties.foldersTellChanges = try container.decodeIfPresent(Bool.self, forKey: .folderVersions) ?? false
        properties.fetchesRanges = try container.decodeIfPresent(Bool.self, forKey: .ranges) ?? false
        properties.tellsUsage = try container.decodeIfPresent(Bool.self, forKey: .usage) ?? false
        properties.isCaseSensitive = try container.decodeIfPresent(Bool.self, forKey: .caseSensitive) ?? true
        properties.longestName = try container.number(.longestName, within: 1...255) ?? 255
        properties.concurrency = try container.number(.concurrency, within: 1...128) ?? 1
        self.properties = properties
    }

    /// An unknown word counts as no promise.
    private static func strength(_ word: String?) -> PathStorageProperties.Strength {
        word.flatMap(PathStorageProperties.Strength.init) ?? .none
    }
}

extension KeyedDecodingContainer {
    /// A number within a range, or nil if there is none.
    func number(_ key: Key, within range: ClosedRange<Int>) throws -> Int? {
        guard let number = try decodeIfPresent(Int.self, forKey: key) else { return nil }
        guard range.contains(number) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "out of range")
        }
        return number
    }
}
