package import ReplicaModel

/// The path of an entry in a storage: the names from the domain's root down; empty for the root.
package struct StoragePath: Hashable, Sendable, CustomStringConvertible {
    package let names: [FileName]

    package init(_ names: [FileName]) {
        self.names = names
    }

    /// The domain's root folder.
    package static let root = StoragePath([])

    /// The parent folder; nil for the root.
    package var parent: StoragePath? { names.isEmpty ? nil : StoragePath(Array(names.dropLast())) }

    /// Its last name; nil for the root.
    package var name: FileName? { names.last }

    /// The path of an entry of this folder.
    package func appending(_ name: FileName) -> StoragePath {
        StoragePath(names + [name])
    }

    /// Whether this is `folder` or anything below it.
    package func isWithin(_ folder: StoragePath) -> Bool { names.starts(with: folder.names) }

    /// The path for messages: invalid UTF-8 is replaced by U+FFFD.
    package var description: String { names.map(\.description).joined(separator: "/") }
}
