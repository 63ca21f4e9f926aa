import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel

/// An object's state in the server, without its content.
struct StoredObject: Hashable, Sendable {
    /// Without the quotes.
    var tag: String
    var size: Int64
    /// When it was last written, in seconds since 1970.
    var modified: Int64?
    /// The metadata of its writers, by lower-case name, without `x-amz-meta-`.
    var metadata: [String: String] = [:]
    /// The headers that a copy needs to have the same properties.
    var headers: [String: String] = [:]
    /// Whether it was written long enough ago that a change would show in a listing.
    var isAged = false

    private static let prefix = "x-amz-meta-"
    private static let carried = [
        "content-type", "content-encoding", "content-disposition", "content-language", "cache-control", "expires",
        "x-amz-storage-class", "x-amz-website-redirect-location",
    ]

    /// - Parameter size: The size of the whole object, if the answer has a part of it.
    /// - Returns: Nil if it is not a valid S3 answer.
    init?(_ head: HTTPHead, size: Int64? = nil) {
        guard let tag = EntityTag.value(head["etag"] ?? ""), let size = size ?? head.contentLength else { return nil }
        self.tag = tag
        self.size = size
        modified = head["last-modified"].flatMap(ServerTime.header)
        if let modified, let now = head["date"].flatMap(ServerTime.header) { isAged = now - modified >= 2 }
        for (name, value) in head.headers {
            if name.hasPrefix(Self.prefix) { metadata[String(name.dropFirst(Self.prefix.count))] = value }
        }
        for name in Self.carried { headers[name] = head[name] }
    }

    /// Whether it is the object that was just written, according to the server's answer: another client's content may
    /// have the same size.
    func isWritten(tag: String?, size: Int64) -> Bool { self.size == size && (tag == nil || tag == self.tag) }

    /// Whether it is a symlink as written by programs that store filesystems in buckets.
    var isSymlink: Bool { size <= 4_096 && (mode ?? 0) & 0o170000 == 0o120000 }

    /// The metadata of a copy, so that it has the same date: otherwise its date would be that of the copy.
    var lastingMetadata: [String: String] {
        guard metadata["mtime"] == nil, let modified else { return metadata }
        return metadata.merging(["mtime": String(modified)]) { $1 }
    }

    private var mode: UInt32? { metadata["mode"].flatMap { ModeAndTimeText.parsed($0, isFolder: false) } }

    /// The attributes at a path according to the metadata; the time of the last write replaces a missing date.
    func attributes(isFolder: Bool) -> PathAttributes {
        var attributes = PathAttributes()
        if !isSymlink, let mode = metadata["mode"].flatMap({ ModeAndTimeText.parsed($0, isFolder: isFolder) }) {
            attributes.mode = UInt16(mode & 0o7777)
        }
        if let date = metadata["mtime"].flatMap(ModeAndTimeText.time) {
            attributes.modificationDate = date
        } else if !isFolder, let modified {
            attributes.modificationDate = Timestamp(seconds: modified, nanoseconds: 0)
        }
        if let mark = metadata["replica"], (1...64).contains(mark.utf8.count) { attributes.mark = mark }
        return attributes
    }

    /// The headers that set an object's metadata and properties.
    static func headers(
        metadata: [String: String], carried: [String: String]
    ) -> [(name: String, value: String)] {
        let own = metadata.sorted { $0.key < $1.key }.map { (name: prefix + $0.key, value: $0.value) }
        return own + carried.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// The metadata with these attributes; those that are nil stay unchanged.
    /// - Parameter type: The type bits of a mode.
    static func metadata(
        _ former: [String: String], _ attributes: PathAttributes, type: UInt32
    ) -> [String: String] {
        var metadata = former
        if let mode = attributes.mode { metadata["mode"] = ModeAndTimeText.text(type | UInt32(mode & 0o7777)) }
        if let date = attributes.modificationDate { metadata["mtime"] = ModeAndTimeText.text(date) }
        if let mark = attributes.mark { metadata["replica"] = mark }
        if former["uid"] == nil { metadata["uid"] = String(geteuid()) }
        if former["gid"] == nil { metadata["gid"] = String(getegid()) }
        return metadata
    }
}
