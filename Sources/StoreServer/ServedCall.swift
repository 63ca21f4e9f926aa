import Foundation
import PathStore
import ProcessStore
import ReplicaModel

/// A line from the daemon: a call, or its cancellation.
struct ServedLine: Decodable, Sendable {
    var id: Int64?
    var call: String?
    var with: ServedCall?
    var cancel: Int64?
}

/// The arguments (`with`) of a call.
struct ServedCall: Decodable, Sendable {
    var path = StoragePath.root
    var destination: StoragePath?
    var target: [UInt8]?
    var isDeep = false
    var page: EnumerationPage?
    var version: String?
    var range: Range<Int64>?
    var file: String?
    var size: Int64 = 0
    var `guard`: WriteGuard?
    var attributes = PathAttributes()

    private enum Key: String, CodingKey {
        case path, path64, to, to64, target, target64, deep, page, version, offset, length, file, size
        case `guard`, mode, mtime, mark
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        path = try Self.path(container, .path, .path64) ?? .root
        destination = try Self.path(container, .to, .to64)
        target = try WireText(container, .target, .target64)?.bytes
        isDeep = try container.decodeIfPresent(Bool.self, forKey: .deep) ?? false
        page = try container.decodeIfPresent(String.self, forKey: .page).map { EnumerationPage(bytes: Array($0.utf8)) }
        version = try container.decodeIfPresent(String.self, forKey: .version)
        file = try container.decodeIfPresent(String.self, forKey: .file)
        size = try container.decodeIfPresent(Int64.self, forKey: .size) ?? 0
        if let offset = try container.decodeIfPresent(Int64.self, forKey: .offset),
            let length = try container.decodeIfPresent(Int64.self, forKey: .length)
        {
            let (end, isTooFar) = offset.addingReportingOverflow(length)
            guard offset >= 0, length >= 0, !isTooFar else { throw Self.strange(container, .offset) }
            range = offset..<end
        }
        switch try container.decodeIfPresent(String.self, forKey: .guard) {
        case "absent": `guard` = .absent
        case "version": `guard` = version.map(WriteGuard.version)
        default: `guard` = nil
        }
        attributes.mode = try container.decodeIfPresent(UInt16.self, forKey: .mode)
        attributes.mark = try container.decodeIfPresent(String.self, forKey: .mark)
        if let time = try container.decodeIfPresent([Int64].self, forKey: .mtime) {
            guard let date = Timestamp(wire: time) else { throw Self.strange(container, .mtime) }
            attributes.modificationDate = date
        }
        // A spool file is given by a plain name in the spool folder.
        if let file, file.isEmpty || !file.utf8.allSatisfy(Self.isLetterOrDigit) {
            throw Self.strange(container, .file)
        }
        guard size >= 0 else { throw Self.strange(container, .size) }
    }

    private static func path(
        _ container: KeyedDecodingContainer<Key>, _ plain: Key, _ encoded: Key
    ) throws -> StoragePath? {
        guard let text = try WireText(container, plain, encoded) else { return nil }
        guard let path = StoragePath(wire: text), path.names.allSatisfy(\.isValid) else {
            throw strange(container, plain)
        }
        return path
    }

    private static func strange(_ container: KeyedDecodingContainer<Key>, _ key: Key) -> DecodingError {
        .dataCorruptedError(forKey: key, in: container, debugDescription: "not as the protocol has it")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}
