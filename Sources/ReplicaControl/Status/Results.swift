package import struct FoundationEssentials.Date

/// What `evict` did.
package struct EvictionResult: Codable, Equatable, Sendable {
    /// Items that are dataless now and weren't before.
    package var items: Int
    /// Bytes of disk given back.
    package var bytes: Int64
    /// What stayed, and why.
    package var refused: [EvictionRefusal]

    /// The result of one request.
    package init(items: Int, bytes: Int64, refused: [EvictionRefusal]) {
        self.items = items
        self.bytes = bytes
        self.refused = refused
    }
}

/// An item that could not be evicted.
package struct EvictionRefusal: Codable, Equatable, Sendable {
    package var path: ControlPath
    /// The error's name: `nonEvictable`, `unsyncedEdits`, `busy`, ...
    package var code: String
    /// One line.
    package var message: String

    /// A refusal and its reason.
    package init(path: ControlPath, code: String, message: String) {
        self.path = path
        self.code = code
        self.message = message
    }
}

/// What `remove` left on disk.
package struct RemovalResult: Codable, Equatable, Sendable {
    /// Where what was kept is now; nil where there was nothing to keep.
    package var preserved: ControlFilePath?
    /// Files below it.
    package var files: Int

    /// What a removal preserved.
    package init(preserved: ControlFilePath?, files: Int) {
        self.preserved = preserved
        self.files = files
    }
}

/// What `restore` did.
package struct RestorationResult: Codable, Equatable, Sendable {
    /// Items that are sent to the store again.
    package var items: Int
    /// Items that are still held: their content isn't here.
    package var left: Int

    /// The result of one request.
    package init(items: Int, left: Int) {
        self.items = items
        self.left = left
    }
}

/// One thing that happened, for `watch`.
package struct ChangeEvent: Codable, Equatable, Sendable {
    /// When.
    package var date: Date
    /// What: `uploaded`, `downloaded`, `remoteChange`, `conflict`, `error`, `evicted`, `state`, ...
    package var kind: String
    /// The item, where it is about one.
    package var path: ControlPath?
    /// One line, where there is more to say.
    package var detail: String?

    /// An event about the domain, or about the item at `path`.
    package init(date: Date, kind: String, path: ControlPath? = nil, detail: String? = nil) {
        self.date = date
        self.kind = kind
        self.path = path
        self.detail = detail
    }
}
