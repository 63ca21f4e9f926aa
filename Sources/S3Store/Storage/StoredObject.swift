import Glibc
import HTTPClient
import PathStore
import ReplicaModel

/// What a server tells of an object beside its content.
struct StoredObject: Hashable, Sendable {
    /// Without the quotes.
    var tag: String
    var size: Int64
    /// When it was put there, in seconds since 1970.
    var modified: Int64?
    /// What its writers noted, by names in lower case, without `x-amz-meta-`.
    var metadata: [String: String] = [:]
    /// What a copy of it has to be given to have it, too.
    var headers: [String: String] = [:]
    /// Whether it was put there so long ago that a change of it would show in a listing.
    var isAged = false

    private static let prefix = "x-amz-meta-"
    private static let carried = [
        "content-type", "content-encoding", "content-disposition", "content-language", "cache-control", "expires",
        "x-amz-storage-class", "x-amz-website-redirect-location",
    ]

    /// - Parameter size: That of the whole object, where the answer has a part of it.
    /// - Returns: Nil for an answer that is none of S3's.
    init?(_ head: HTTPHead, size: Int64? = nil) {
        guard let tag = Self.tag(head["etag"] ?? ""), let size = size ?? head.contentLength else { return nil }
        self.tag = tag
        self.size = size
        modified = head["last-modified"].flatMap(Moment.header)
        if let modified, let now = head["date"].flatMap(Moment.header) { isAged = now - modified >= 2 }
        for (name, value) in head.headers {
            if name.hasPrefix(Self.prefix) { metadata[String(name.dropFirst(Self.prefix.count))] = value }
        }
        for name in Self.carried { headers[name] = head[name] }
    }

    /// Whether it is what was just written, by what the server said of that: another client's content may have the same size.
    func isWritten(tag: String?, size: Int64) -> Bool { self.size == size && (tag == nil || tag == self.tag) }

    /// An ETag without its quotes; nil for what can be no version.
    static func tag(_ text: String) -> String? {
        let tag =
            text.hasPrefix("\"") && text.hasSuffix("\"") && text.utf8.count >= 2
            ? text.dropFirst().dropLast() : text[...]
        guard (1...128).contains(tag.utf8.count),
            tag.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") })
        else { return nil }
        return String(tag)
    }

    /// What kind of thing it is for those who write file systems into buckets.
    var isSymlink: Bool { size <= 4_096 && (mode ?? 0) & 0o170000 == 0o120000 }

    /// What a copy is to have noted, so that it has the same date: without a note that would be the moment of the copy.
    var lastingMetadata: [String: String] {
        guard metadata["mtime"] == nil, let modified else { return metadata }
        return metadata.merging(["mtime": String(modified)]) { $1 }
    }

    private var mode: UInt32? { metadata["mode"].flatMap { FileMode.parsed($0, isFolder: false) } }

    /// What is kept of a path, as the metadata has it; the moment of the last write stands for a date that nobody noted.
    func attributes(isFolder: Bool) -> PathAttributes {
        var attributes = PathAttributes()
        if !isSymlink, let mode = metadata["mode"].flatMap({ FileMode.parsed($0, isFolder: isFolder) }) {
            attributes.mode = UInt16(mode & 0o7777)
        }
        if let date = metadata["mtime"].flatMap(FileMode.time) {
            attributes.modificationDate = date
        } else if !isFolder, let modified {
            attributes.modificationDate = Timestamp(seconds: modified, nanoseconds: 0)
        }
        if let mark = metadata["replica"], (1...64).contains(mark.utf8.count) { attributes.mark = mark }
        return attributes
    }

    /// The headers by which an object is given metadata and what it is to have beside that.
    static func headers(
        metadata: [String: String], carried: [String: String]
    ) -> [(name: String, value: String)] {
        let own = metadata.sorted { $0.key < $1.key }.map { (name: prefix + $0.key, value: $0.value) }
        return own + carried.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// Metadata with these attributes in it; what is nil stays.
    /// - Parameter type: The bits of a mode that say what kind of file it is.
    static func metadata(
        _ former: [String: String], _ attributes: PathAttributes, type: UInt32
    ) -> [String: String] {
        var metadata = former
        if let mode = attributes.mode { metadata["mode"] = FileMode.text(type | UInt32(mode & 0o7777)) }
        if let date = attributes.modificationDate { metadata["mtime"] = FileMode.text(date) }
        if let mark = attributes.mark { metadata["replica"] = mark }
        if former["uid"] == nil { metadata["uid"] = String(geteuid()) }
        if former["gid"] == nil { metadata["gid"] = String(getegid()) }
        return metadata
    }
}

/// Modes and times as s3fs and rclone note them.
enum FileMode {
    /// Octal with a zero in front, which both read: s3fs by the zero, rclone always.
    static func text(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }

    /// Octal, or decimal where only that makes a mode of it (s3fs).
    static func parsed(_ text: String, isFolder: Bool) -> UInt32? {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let (octal, decimal) = (UInt32(text, radix: 8), UInt32(text))
        if text.hasPrefix("0") { return octal }
        func isMode(_ mode: UInt32?) -> Bool {
            guard let mode else { return false }
            let type = mode & ~0o7777
            return isFolder ? type == 0o040000 : type == 0o100000 || type == 0o120000
        }
        if isMode(octal) { return octal }
        if isMode(decimal) { return decimal }
        return octal.flatMap { $0 <= 0o7777 ? $0 : nil }
    }

    /// Seconds since 1970 with what is below them.
    static func text(_ date: Timestamp) -> String {
        if date.subsecond == 0 { return String(date.seconds) }
        // What is before 1970 counts back from zero as a whole: seconds are rounded down.
        let isBefore = date.seconds < 0
        let seconds = isBefore ? -(date.seconds + 1) : date.seconds
        let rest = String(isBefore ? 1_000_000_000 - date.subsecond : date.subsecond)
        return (isBefore ? "-" : "") + "\(seconds)." + String(repeating: "0", count: 9 - rest.utf8.count) + rest
    }

    /// - Returns: Nil for what is no time.
    static func time(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 40 else { return nil }
        let isBefore = text.hasPrefix("-")
        let parts = text.dropFirst(isBefore || text.hasPrefix("+") ? 1 : 0).split(
            separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let seconds = HTTPHead.size(String(parts[0])) else { return nil }
        var nanoseconds: Int64 = 0
        if parts.count == 2 {
            let digits = parts[1].prefix(9)
            guard let rest = HTTPHead.size(String(digits)) else { return nil }
            nanoseconds = (digits.utf8.count..<9).reduce(rest) { value, _ in value * 10 }
        }
        guard isBefore else { return Timestamp(seconds: seconds, nanoseconds: nanoseconds) }
        return nanoseconds == 0
            ? Timestamp(seconds: -seconds, nanoseconds: 0)
            : Timestamp(seconds: -seconds - 1, nanoseconds: 1_000_000_000 - nanoseconds)
    }
}
