/// The names of a hard-linked file in the order in which they came: each is added and taken out in constant time, however
/// many there are.
struct LinkedNames {
    /// With gaps where one was taken out.
    private var order: [Node?] = []
    private var positions: [ItemNumber: Int] = [:]
    /// Before it are only gaps.
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

    /// Takes the gaps out, when most are.
    private mutating func close() {
        order = nodes
        start = 0
        for (position, node) in order.enumerated() { if let node { positions[node.number] = position } }
    }
}
