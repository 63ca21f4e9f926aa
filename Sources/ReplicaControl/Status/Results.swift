public import struct Foundation.Date

/// What `evict` did.
public struct EvictionResult: Codable, Equatable, Sendable {
    /// Items that are dataless now and weren't before.
    public var items: Int
    /// Bytes of disk given back.
    public var bytes: Int64
    /// What stayed, and why.
    public var refused: [EvictionRefusal]

    /// The result of one request.
    public init(items: Int, bytes: Int64, refused: [EvictionRefusal]) {
        self.items = items
        self.bytes = bytes
        self.refused = refused
    }
}

/// An item that could not be evicted.
public struct EvictionRefusal: Codable, Equatable, Sendable {
    public var path: ControlPath
    /// The error's name: `nonEvictable`, `unsyncedEdits`, `busy`, ...
    public var code: String
    /// One line.
    public var message: String

    /// A refusal and its reason.
    public init(path: ControlPath, code: String, message: String) {
        self.path = path
        self.code = code
        self.message = message
    }
}

/// What `remove` left on disk.
public struct RemovalResult: Codable, Equatable, Sendable {
    /// Where what was kept is now; nil where there was nothing to keep.
    public var preserved: ControlFilePath?
    /// Files below it.
    public var files: Int

    /// What a removal preserved.
    public init(preserved: ControlFilePath?, files: Int) {
        self.preserved = preserved
        self.files = files
    }
}

/// What `restore` did.
public struct RestorationResult: Codable, Equatable, Sendable {
    /// Items that are sent to the store again.
    public var items: Int
    /// Items that are still held: their content isn't here.
    public var left: Int

    /// The result of one request.
    public init(items: Int, left: Int) {
        self.items = items
        self.left = left
    }
}

/// One thing that happened, for `watch`.
public struct ChangeEvent: Codable, Equatable, Sendable {
    /// When.
    public var date: Date
    /// What: `uploaded`, `downloaded`, `remoteChange`, `conflict`, `error`, `evicted`, `state`, ...
    public var kind: String
    /// The item, where it is about one.
    public var path: ControlPath?
    /// One line, where there is more to say.
    public var detail: String?

    /// An event about the domain, or about the item at `path`.
    public init(date: Date, kind: String, path: ControlPath? = nil, detail: String? = nil) {
        self.date = date
        self.kind = kind
        self.path = path
        self.detail = detail
    }
}
