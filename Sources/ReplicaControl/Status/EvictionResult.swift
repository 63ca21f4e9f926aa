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
