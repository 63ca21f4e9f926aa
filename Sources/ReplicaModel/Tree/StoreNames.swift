/// How items are named in the store, and which names it did not take.
struct StoreNames {
    /// How many consecutive name collisions are tolerated: a store may report one for every name.
    static let mostCollisions = 4

    /// How names are made that the store takes.
    var bounced = BouncedName()
    /// What items are called in the store while a ring of moves is taken apart.
    let passing: PassingName
    /// The number of consecutive collisions of an item's name.
    private var collisions: [ItemNumber: Int] = [:]
    /// Items whose passing name the store did not take.
    private var stuck: Set<ItemNumber> = []

    init(passing: PassingName) { self.passing = passing }

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
