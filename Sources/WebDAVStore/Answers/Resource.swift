import HTTPClient
import HTTPStorage
import PathStore
import PercentEncoding
import ReplicaModel

/// A resource as the server describes it (`response` of RFC 4918 §14.24).
struct Resource: Hashable, Sendable {
    /// Below the store's folder.
    var names: [FileName]
    var isFolder = false
    /// Nil if none is given, as for folders.
    var size: Int64?
    var tag: Tag?
    /// When its content was last written, in seconds since 1970.
    var modified: Int64?
    /// The store's own properties.
    var note = Note()
    /// The properties of Nextcloud and ownCloud.
    var cloud = Cloud()
    /// The quota's properties (RFC 4331), in bytes, if they were requested and are known.
    var (available, used): (Int64?, Int64?)

    /// Properties of the dialect of Nextcloud and ownCloud.
    struct Cloud: Hashable, Sendable {
        /// The number of a file or folder, which survives moves and is never reused.
        var number: String?
        /// The user's permissions, as letters.
        var permissions: String?
    }

    /// An ETag.
    struct Tag: Hashable, Sendable {
        /// Without quotes.
        var value: String
        /// Whether it can't be a precondition (RFC 9110 §13.1.1). Apache sends weak ones for files written within the
        /// last two seconds.
        var isWeak: Bool

        init?(_ text: String) {
            let text = text.trimmedSpaces
            isWeak = text.hasPrefix("W/")
            guard let value = EntityTag.value(isWeak ? String(text.dropFirst(2)) : text) else { return nil }
            self.value = value
        }

        /// Whether it is the tag of the same content. A server may make it weak, or mark it as that of a compressed answer, in
        /// some of its answers only.
        func isSame(as other: Self?) -> Bool { other.map { $0.plain == plain } ?? false }

        private var plain: Substring { value.hasSuffix("-gzip") ? value.dropLast(5) : value[...] }

        /// The form in headers.
        var header: String { "\"\(value)\"" }
    }

    /// Properties of the store's own.
    struct Note: Hashable, Sendable {
        var mode: UInt16?
        /// Seconds since 1970, and the version to which they belong: another client's content has another date.
        var date: Timestamp?
        var dateOf: String?
    }

    /// Changes whenever the content changes: the ETag if there is one, otherwise time and size.
    var version: String { Self.version(tag, modified: modified, size: size ?? 0) }

    /// The version of a content from its properties.
    static func version(_ tag: Tag?, modified: Int64?, size: Int64) -> String {
        tag?.value ?? "t\(modified ?? 0)-\(size)"
    }

    /// - Parameter now: The server's clock.
    func entry(now: Int64?) -> PathEntry? {
        let path = StoragePath(names)
        var attributes = PathAttributes(mode: mode)
        if isFolder {
            return PathEntry(
                path: path, kind: .folder, version: tag?.value, attributes: attributes, identity: cloud.number)
        }
        guard let size else { return nil }
        attributes.modificationDate =
            note.dateOf == version ? note.date : modified.map { Timestamp(seconds: $0, nanoseconds: 0) }
        return PathEntry(
            path: path, kind: .file, version: version, size: size, attributes: attributes, identity: cloud.number,
            isSettled: isSettled(now))
    }

    /// The store's own properties, limited by the user's permissions.
    private var mode: UInt16? {
        guard let permissions = cloud.permissions else { return note.mode }
        let mode = note.mode ?? (isFolder ? 0o755 : 0o644)
        let isWritable = isFolder ? permissions.contains("C") || permissions.contains("K") : permissions.contains("W")
        return isWritable ? mode : mode & ~0o222
    }

    private func isSettled(_ now: Int64?) -> Bool {
        guard let now, let modified else { return false }
        return now - modified >= 2
    }
}

extension Resource {
    /// The namespaces of WebDAV and of the store's own properties.
    static let (dav, own) = ("DAV:", "urn:x-mount-replica:webdav")
    /// The namespace of ownCloud's properties, which Nextcloud uses too.
    static let cloud = "http://owncloud.org/ns"
    /// The maximum length of a property, in bytes.
    private static let longestValue = 1_024

    /// - Returns: Nil if it is outside of the folder or invalid.
    init?(_ response: XMLElement, in address: WebDAVAddress) {
        guard response.name == "response", response.namespace == Self.dav,
            let href = response.children.first(where: { $0.name == "href" && $0.namespace == Self.dav }),
            let names = Reference.names(href.bytes, in: address)
        else { return nil }
        self.names = names
        var isTold = false
        for part in response.children where part.name == "propstat" && Self.status(part) == 200 {
            for property in part["prop"]?.children ?? [] where property.bytes.count <= Self.longestValue {
                take(property)
                isTold = true
            }
        }
        guard isTold else { return nil }
    }

    /// The names of a resource that a response says is missing (`status` without properties, RFC 4918 §9.1); nil if it does not.
    static func missing(_ response: XMLElement, in address: WebDAVAddress) -> [FileName]? {
        guard response.name == "response", response.namespace == dav, response["propstat"] == nil,
            let status = status(response), [404, 410].contains(status),
            let href = response.children.first(where: { $0.name == "href" && $0.namespace == dav })
        else { return nil }
        return Reference.names(href.bytes, in: address)
    }

    /// The last part of a response's reference if it is in a folder, but neither a resource nor missing.
    static func unreadable(_ response: XMLElement, in folder: [FileName], _ address: WebDAVAddress) -> String? {
        guard response.name == "response", response.namespace == dav, missing(response, in: address) == nil,
            let href = response.children.first(where: { $0.name == "href" && $0.namespace == dav })
        else { return nil }
        let slash = UInt8(ascii: "/")
        let path = href.bytes.last == slash ? href.bytes.dropLast() : href.bytes[...]
        guard let end = path.lastIndex(of: slash), Reference.names(Array(path[...end]), in: address) == folder else {
            return nil
        }
        return String(decoding: path[path.index(after: end)...], as: UTF8.self)
    }

    private mutating func take(_ property: XMLElement) {
        let text = property.text.trimmedSpaces
        switch (property.namespace, property.name) {
        case (Self.dav, "resourcetype"):
            isFolder = property.children.contains { $0.name == "collection" && $0.namespace == Self.dav }
        case (Self.dav, "getcontentlength"): size = HTTPHead.size(text)
        case (Self.dav, "getetag"): tag = Tag(text)
        case (Self.dav, "getlastmodified"): modified = ServerTime.header(text)
        // Nextcloud sends negative numbers for "unlimited" and "unknown".
        case (Self.dav, "quota-available-bytes"): available = HTTPHead.size(text)
        case (Self.dav, "quota-used-bytes"): used = HTTPHead.size(text)
        case (Self.cloud, "fileid"): if HTTPHead.size(text) != nil { cloud.number = text }
        case (Self.cloud, "permissions"):
            if text.utf8.count <= 32, text.utf8.allSatisfy(PercentText.isAlphanumeric) { cloud.permissions = text }
        case (Self.own, "mode"):
            if let mode = ModeAndTimeText.parsed(text, isFolder: false), mode <= 0o7777 { note.mode = UInt16(mode) }
        case (Self.own, "mtime"):
            let parts = text.split(separator: " ")
            if parts.count == 2, let date = ModeAndTimeText.time(String(parts[0])) {
                (note.date, note.dateOf) = (date, String(parts[1]))
            }
        default: break
        }
    }

    /// The status of an element; 200 if it has none.
    static func status(_ element: XMLElement) -> Int? {
        guard let text = element["status"]?.text else { return 200 }
        let words = text.split(separator: " ")
        return words.count >= 2 ? Int(words[1]) : nil
    }
}
