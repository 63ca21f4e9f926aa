package import ReplicaModel
package import SystemPackage

/// Gives the values of the virtual attributes `user.replica.*` (CONTROL.md). Any thread may call; answers are quick.
package protocol ItemStatusSource: Sendable {
    /// The value of an attribute.
    /// - Parameter attribute: What follows `user.replica.`: `state`, `progress`, `error`, `id`, `pin`,
    ///   `version.content`, `version.metadata`.
    /// - Returns: Nil when the item has none such: getxattr(2) says ENODATA then, or what the file below has.
    func value(of attribute: String, for item: ItemNumber) -> [UInt8]?
    /// Pins or unpins an item as `user.replica.pin` was set; nil when the attribute was removed.
    /// - Throws: EINVAL for a value that means nothing.
    func setPin(_ value: [UInt8]?, of item: ItemNumber) throws(Errno)
}

/// The names of the virtual attributes. listxattr(2) shows none of them, so that copies do not carry them along.
enum VirtualAttribute {
    static let prefix = "user.replica."
    static let pin = "user.replica.pin"

    /// What follows the prefix, or nil when `name` is another's.
    static func key(of name: String) -> String? {
        name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }
}
