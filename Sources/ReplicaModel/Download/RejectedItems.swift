/// Items of the store that can't exist here.
struct RejectedItems {
    /// Items whose state in the store is invalid, with the names given there: each is requested again.
    private(set) var invalid: [ItemIdentifier: String] = [:]
    /// Names that can't be used here, and other changes that could not be applied.
    var refused: Set<String> = []
    /// What the store itself leaves out.
    private(set) var leftOut: LeftOutItems?
    /// The highest number that the store left out since the start.
    private var mostLeftOut = 0

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

    /// Notes what the store leaves out now.
    /// - Returns: Whether it is more than ever since the start, and thus news.
    mutating func leaveOut(_ items: LeftOutItems?) -> Bool {
        leftOut = items
        guard let items, items.count > mostLeftOut else { return false }
        mostLeftOut = items.count
        return true
    }

    /// What is missing here, in one line for the user; nil if nothing is.
    var reason: String? {
        let names = [leftOut?.example, refused.min(), invalid.values.min()].compactMap(\.self)
        guard let name = names.first else { return nil }
        let count = invalid.count + refused.count + (leftOut?.count ?? 0)
        return count == 1
            ? "1 item of the store is left out: \(name)"
            : "\(count) items of the store are left out, one of them: \(name)"
    }
}
