/// The replica's own number of an item: its inode number in the mount and its key in the database. Never reused.
package struct ItemNumber: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 1 for the root, larger for all others.
    package let rawValue: UInt64

    /// The item with this inode number.
    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package var description: String { "#\(rawValue)" }

    package static func < (left: ItemNumber, right: ItemNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension ItemReference where Self == ItemNumber {
    /// The domain's root folder.
    package static var root: ItemNumber { ItemNumber(1) }
}
