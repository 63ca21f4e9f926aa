import ChildProcess
import PathStore
import ReplicaModel

/// An entry of the level `path`.
struct WireEntry: Decodable, Sendable {
    let entry: PathEntry

    private enum Key: String, CodingKey {
        case path, path64, kind, version, size, mode, mtime, mark, target, target64, id
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func corrupted(_ key: Key, _ text: String) -> DecodingError {
            DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: text)
        }
        guard let text = try WireText(container, .path, .path64), let path = StoragePath(wire: text) else {
            throw corrupted(.path, "no path")
        }
        let kind: PathKind
        switch try container.decode(String.self, forKey: .kind) {
        case "file": kind = .file
        case "folder": kind = .folder
        case "symlink": kind = .symlink(try WireText(container, .target, .target64)?.bytes ?? [])
        default: throw corrupted(.kind, "an unknown kind")
        }
        var entry = PathEntry(path: path, kind: kind)
        entry.version = try container.decodeIfPresent(String.self, forKey: .version)
        entry.identity = try container.decodeIfPresent(String.self, forKey: .id)
        if kind == .file {
            entry.size = try container.decode(Int64.self, forKey: .size)
            guard (0...largestNumber).contains(entry.size) else { throw corrupted(.size, "no size") }
            guard let version = entry.version, (1...128).contains(version.utf8.count) else {
                throw corrupted(.version, "no version")
            }
        }
        if let mode = try container.decodeIfPresent(Int64.self, forKey: .mode) {
            guard (0...0o7777).contains(mode) else { throw corrupted(.mode, "no mode") }
            entry.attributes.mode = UInt16(mode)
        }
        if let time = try container.decodeIfPresent([Int64].self, forKey: .mtime) {
            guard let date = Timestamp(wire: time) else { throw corrupted(.mtime, "no time") }
            entry.attributes.modificationDate = date
        }
        entry.attributes.mark = try container.decodeIfPresent(String.self, forKey: .mark)
        if let mark = entry.attributes.mark, mark.utf8.count > 64 { throw corrupted(.mark, "too long") }
        self.entry = entry
    }
}

extension WireEntry {
    /// Nil unless it is a file.
    var fileSize: Int64? { entry.kind == .file ? entry.size : nil }
}

/// The result of a call that returns an entry.
struct EntryResult: Decodable {
    let entry: WireEntry
}

/// The result of `list`.
struct ListResult: Decodable {
    let entries: [WireEntry]
    let next: String?
    let leftOut: WireLeftOut?
}

/// What a listing leaves out.
struct WireLeftOut: Decodable, Sendable {
    let names: LeftOutNames

    private enum Key: String, CodingKey {
        case count, name
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let count = try container.decode(Int64.self, forKey: .count)
        guard (0...largestNumber).contains(count) else {
            throw DecodingError.dataCorruptedError(forKey: .count, in: container, debugDescription: "no count")
        }
        names = LeftOutNames(
            count: Int(count), example: SanitizedText.of(try container.decode(String.self, forKey: .name)))
    }
}
