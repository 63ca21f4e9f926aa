/// The flags of renameat2(2).
public struct RenameFlags: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Fail with EEXIST if the new name exists.
    public static let noReplace = RenameFlags(rawValue: 1)
    /// Swap the two names.
    public static let exchange = RenameFlags(rawValue: 2)
    /// Leave a whiteout (overlayfs). Most filesystems answer EINVAL.
    public static let whiteout = RenameFlags(rawValue: 4)
}
