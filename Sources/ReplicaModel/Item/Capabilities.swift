/// What a user may do with an item according to the store (MODEL.md#items). Shown to users; enforced for programs only
/// if the domain's options say so.
public struct Capabilities: OptionSet, Hashable, Sendable, Codable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let reading = Capabilities(rawValue: 1)
    /// Writing a file; adding to a folder.
    public static let writing = Capabilities(rawValue: 2)
    public static let reparenting = Capabilities(rawValue: 4)
    public static let renaming = Capabilities(rawValue: 8)
    public static let trashing = Capabilities(rawValue: 16)
    public static let deleting = Capabilities(rawValue: 32)

    public static let all: Capabilities = [.reading, .writing, .reparenting, .renaming, .trashing, .deleting]
}
