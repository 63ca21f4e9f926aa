/// Items of the storage that a store can't represent, such as objects of a bucket whose keys are no paths. They have no identifiers,
/// and no call concerns them.
public struct LeftOutItems: Hashable, Sendable {
    /// How many there are, at least 1.
    public var count: Int
    /// The path of one of them, for users.
    public var example: String

    public init(count: Int, example: String) {
        self.count = count
        self.example = example
    }
}
