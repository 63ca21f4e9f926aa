/// What a ``RemoteStore/createItem(basedOn:fields:contents:options:)`` may assume (MODEL.md#calls).
public struct CreateOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The item comes from an import, a reimport or a merge: it may already exist in the store (statement 15).
    public static let mayAlreadyExist = CreateOptions(rawValue: 1)
    /// The item was deleted in the store while it was edited locally.
    public static let deletionConflicted = CreateOptions(rawValue: 2)
}
