/// Items of the store that can't exist here.
struct RejectedItems {
    /// Items whose state in the store is invalid, with the names given there: each is requested again.
    private(set) var invalid: [ItemIdentifier: String] = [:]
    /// Names that can't be used here, and other changes that could not be applied.
    var refused: Set<String> = []

    /// How many of each are remembered.
    private static let most = 1_000

    mutating func reject(_ identifier: ItemIdentifier, _ name: String) {
        if identifier.fault == nil, invalid.count < Self.most {
            invalid[identifier] = name
        } else if refused.count < Self.most {
            refused.insert(name)
        }
    }

    mutating func accept(_ identifier: ItemIdentifier) { invalid[identifier] = nil }
}
