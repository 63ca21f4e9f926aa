/// The pinned items that are not completely local.
struct WantedItems {
    /// Whether anything is pinned.
    private(set) var hasPins = false
    private var items: Set<ItemNumber> = []
    /// Pinned folders that may contain wanted items.
    private var trees: Set<ItemNumber> = []

    /// Whether no wanted item is known.
    var isEmpty: Bool { items.isEmpty }

    mutating func notePin() { hasPins = true }
    mutating func insert(_ number: ItemNumber) { items.insert(number) }
    mutating func insert(_ numbers: some Sequence<ItemNumber>) { items.formUnion(numbers) }
    mutating func insertTrees(_ folders: some Sequence<ItemNumber>) { trees.formUnion(folders) }
    mutating func take() -> ItemNumber? { items.popFirst() }

    mutating func takeTrees() -> Set<ItemNumber> {
        defer { trees.removeAll() }
        return trees
    }
}
