/// The replica's own name of an item: its inode number in the mount and its key in the database, never used twice.
public struct ItemNumber: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 1 for the root, larger for all others.
    public let rawValue: UInt64

    /// The item with this inode number.
    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The domain's root folder.
    public static let root = ItemNumber(1)

    public var description: String { "#\(rawValue)" }

    public static func < (left: ItemNumber, right: ItemNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}
