/// The names of items in the store, and which of them it rejected.
struct StoreNames {
    /// How many consecutive name collisions are tolerated: a store may report one for every name.
    static let mostCollisions = 4

    /// Makes names within the store's limits.
    var conflicts = ConflictNames()
    /// The temporary names of items in the store while a cycle of moves is resolved.
    let interim: InterimName
    /// The number of consecutive collisions of an item's name.
    private var collisions: [ItemNumber: Int] = [:]
    /// Items whose temporary name the store rejected.
    private var stuck: Set<ItemNumber> = []

    init(interim: InterimName) { self.interim = interim }

    func collisions(of node: Node) -> Int { collisions[node.number, default: 0] }

    /// - Returns: The number of collisions so far.
    mutating func noteCollision(of node: Node) -> Int {
        collisions[node.number, default: 0] += 1
        return collisions(of: node)
    }

    mutating func clearCollisions(of node: Node) { collisions[node.number] = nil }

    mutating func noteStuck(_ node: Node) { stuck.insert(node.number) }
    mutating func clearStuck(_ node: Node) { stuck.remove(node.number) }
    func isStuck(_ node: Node) -> Bool { stuck.contains(node.number) }
}
