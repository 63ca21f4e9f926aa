/// Entries of a folder that a listing leaves out, because they have no valid path.
package struct LeftOutNames: Hashable, Sendable {
    /// How many.
    package private(set) var count = 0
    /// The name of one of them, for users, below the folder; it may contain slashes. Nil if there are none.
    package private(set) var example: String?

    /// The maximum number, which a storage may exceed.
    private static let most = 1_000_000_000
    /// The maximum length of the example in bytes.
    private static let longestExample = 500

    /// None.
    package init() {}

    /// - Parameters:
    ///   - count: How many; anything below 1 is none.
    ///   - example: The name of one of them.
    package init(count: Int, example: String) {
        add(example, count: count)
    }

    /// Counts an entry of this name, or several of which one has it.
    package mutating func add(_ name: String, count more: Int = 1) {
        guard more > 0 else { return }
        count = min(Self.most, count + min(more, Self.most))
        if example == nil { example = String(decoding: name.utf8.prefix(Self.longestExample), as: UTF8.self) }
    }

    /// Counts those of another page.
    package mutating func add(_ other: LeftOutNames) { add(other.example ?? "", count: other.count) }
}
