import PathStore
import ReplicaModel

/// The arguments (`with`) of the calls of the level `path`. Fields that are nil are omitted.
struct PathCallArguments: Encodable, Sendable {
    var path: StoragePath?
    var target: [UInt8]?
    var destination: StoragePath?
    var isDeep = false
    var page: String?
    var version: String?
    var range: Range<Int64>?
    /// The name of a spool file.
    var file: String?
    var size: Int64?
    var `guard`: WriteGuard?
    var attributes = PathAttributes()

    private enum Key: String, CodingKey {
        case path, path64, to, to64, target, target64, deep, page, version, offset, length, file, size
        case `guard`, mode, mtime, mark
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try path?.wire.encode(into: &container, .path, .path64)
        try destination?.wire.encode(into: &container, .to, .to64)
        try target.map(WireText.init)?.encode(into: &container, .target, .target64)
        if isDeep { try container.encode(true, forKey: .deep) }
        try container.encodeIfPresent(page, forKey: .page)
        try container.encodeIfPresent(range?.lowerBound, forKey: .offset)
        try container.encodeIfPresent(range.map { $0.upperBound - $0.lowerBound }, forKey: .length)
        try container.encodeIfPresent(file, forKey: .file)
        try container.encodeIfPresent(size, forKey: .size)
        switch `guard` {
        case .absent: try container.encode("absent", forKey: .guard)
        case .version(let version):
            try container.encode("version", forKey: .guard)
            try container.encode(version, forKey: .version)
        case nil: try container.encodeIfPresent(version, forKey: .version)
        }
        try container.encodeIfPresent(attributes.mode, forKey: .mode)
        try container.encodeIfPresent(attributes.modificationDate?.wire, forKey: .mtime)
        try container.encodeIfPresent(attributes.mark, forKey: .mark)
    }

    /// Whether all of it is UTF-8.
    var isUTF8: Bool {
        [path?.wire, destination?.wire, target.map(WireText.init)].allSatisfy { $0?.isUTF8 ?? true }
    }
}
