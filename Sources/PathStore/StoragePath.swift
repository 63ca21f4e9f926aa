public import ReplicaModel

/// Where something is in a storage: the names from the domain's root on, which is empty.
public struct StoragePath: Hashable, Sendable {
    public let names: [FileName]

    public init(_ names: [FileName]) {
        self.names = names
    }

    public static let root = StoragePath([])

    /// The folder above; nil for the root.
    public var parent: StoragePath? { names.isEmpty ? nil : StoragePath(Array(names.dropLast())) }

    public var name: FileName? { names.last }

    public func appending(_ name: FileName) -> StoragePath {
        StoragePath(names + [name])
    }
}
