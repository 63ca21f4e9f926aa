package import ReplicaModel
package import SystemPackage

/// Provides the virtual attributes `user.replica.*` (CONTROL.md). May be called from any thread; answers are quick.
package protocol ItemStatusSource: Sendable {
    /// The value of an attribute.
    /// - Parameter attribute: The part after `user.replica.`: `state`, `progress`, `error`, `id`, `pin`,
    ///   `version.content`, `version.metadata`.
    /// - Returns: Nil if the item does not have it; getxattr(2) then returns ENODATA, or the backing file's attribute.
    func value(of attribute: String, for item: ItemNumber) -> [UInt8]?
    /// Pins or unpins an item after `user.replica.pin` was set; nil if the attribute was removed.
    /// - Throws: EINVAL for an invalid value.
    func setPin(_ value: [UInt8]?, of item: ItemNumber) throws(Errno)
}
