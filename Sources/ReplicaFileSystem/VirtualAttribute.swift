/// The names of the virtual attributes. listxattr(2) omits them, so that copies do not carry them along.
enum VirtualAttribute {
    static let prefix = "user.replica."
    static let pin = "user.replica.pin"

    /// The part after the prefix, or nil if `name` has another one.
    static func key(of name: String) -> String? {
        name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }
}
