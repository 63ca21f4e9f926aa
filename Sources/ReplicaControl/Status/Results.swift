package import struct FoundationEssentials.Date

/// The result of `evict`.
package struct EvictionResult: Codable, Equatable, Sendable {
    /// Items that became dataless.
    package var items: Int
    /// Freed disk space in bytes.
    package var bytes: Int64
    /// Items that were not evicted, and why.
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

/// The files that `remove` left on disk.
package struct RemovalResult: Codable, Equatable, Sendable {
    /// The folder of the preserved files; nil if there were none.
    package var preserved: ControlFilePath?
    /// The number of files below it.
    package var files: Int

    /// The result of one request.
    package init(preserved: ControlFilePath?, files: Int) {
        self.preserved = preserved
        self.files = files
    }
}

/// The result of `restore`.
package struct RestorationResult: Codable, Equatable, Sendable {
    /// Items that are uploaded again.
    package var items: Int
    /// Items that are still held because their content is not local.
    package var left: Int

    /// The result of one request.
    package init(items: Int, left: Int) {
        self.items = items
        self.left = left
    }
}

/// An event, for `watch`.
package struct ChangeEvent: Codable, Equatable, Sendable {
    /// When.
    package var date: Date
    /// The kind: `uploaded`, `downloaded`, `remoteChange`, `conflict`, `error`, `evicted`, `state`, ...
    package var kind: String
    /// The item, if it concerns one.
    package var path: ControlPath?
    /// Details in one line, if there are any.
    package var detail: String?

    /// An event about the domain, or about the item at `path`.
    package init(date: Date, kind: String, path: ControlPath? = nil, detail: String? = nil) {
        self.date = date
        self.kind = kind
        self.path = path
        self.detail = detail
    }
}
