/// The names of a hard-linked file in the order in which they were added. Adding and removing one takes constant time.
struct LinkedNames {
    /// With gaps left by removed names.
    private var order: [Node?] = []
    private var positions: [ItemNumber: Int] = [:]
    /// There are only gaps before it.
    private var start = 0

    var isEmpty: Bool { positions.isEmpty }
    var nodes: [Node] { order[start...].compactMap(\.self) }
    var first: Node? { start < order.count ? order[start] : nil }

    mutating func append(_ node: Node) {
        guard positions[node.number] == nil else { return }
        positions[node.number] = order.count
        order.append(node)
    }

    mutating func remove(_ node: Node) {
        guard let position = positions[node.number], order[position] === node else { return }
        positions[node.number] = nil
        order[position] = nil
        while start < order.count, order[start] == nil { start += 1 }
        if order.count > 8, positions.count * 2 < order.count { close() }
    }

    /// Removes the gaps if most entries are gaps.
    private mutating func close() {
        order = nodes
        start = 0
        for (position, node) in order.enumerated() { if let node { positions[node.number] = position } }
    }
}
