package import ReplicaModel

/// Where something is in a storage: the names from the domain's root on, which is empty.
package struct StoragePath: Hashable, Sendable, CustomStringConvertible {
    package let names: [FileName]

    package init(_ names: [FileName]) {
        self.names = names
    }

    /// The domain's root folder.
    package static let root = StoragePath([])

    /// The folder above; nil for the root.
    package var parent: StoragePath? { names.isEmpty ? nil : StoragePath(Array(names.dropLast())) }

    /// Its last name; nil for the root.
    package var name: FileName? { names.last }

    /// The path of something in this folder.
    package func appending(_ name: FileName) -> StoragePath {
        StoragePath(names + [name])
    }

    /// Whether this is `folder` or anything below it.
    package func isWithin(_ folder: StoragePath) -> Bool { names.starts(with: folder.names) }

    /// The path for people: names that are not UTF-8 show U+FFFD.
    package var description: String { names.map(\.description).joined(separator: "/") }
}
