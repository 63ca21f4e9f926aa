/// How items are named in the store, and which names it did not take.
struct StoreNames {
    /// How often in a row a name is said to be taken before that is a failure: a store may say so of every name.
    static let mostCollisions = 4

    /// How names are made that the store takes.
    var bounced = BouncedName()
    /// What items are called in the store while a ring of moves is taken apart.
    let passing: PassingName
    /// How often in a row the name of an item was said to be taken.
    private var collisions: [ItemNumber: Int] = [:]
    /// Items whose passing name the store did not take.
    private var stuck: Set<ItemNumber> = []

    init(passing: PassingName) { self.passing = passing }

    func collisions(of node: Node) -> Int { collisions[node.number, default: 0] }

    /// - Returns: How many there were by now.
    mutating func noteCollision(of node: Node) -> Int {
        collisions[node.number, default: 0] += 1
        return collisions(of: node)
    }

    mutating func clearCollisions(of node: Node) { collisions[node.number] = nil }

    mutating func noteStuck(_ node: Node) { stuck.insert(node.number) }
    mutating func clearStuck(_ node: Node) { stuck.remove(node.number) }
    func isStuck(_ node: Node) -> Bool { stuck.contains(node.number) }
}
