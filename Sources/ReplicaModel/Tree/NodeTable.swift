/// The key by which nodes are found in a ``NodeTable``: something that each has itself, and keeps as long as it is in the
/// table.
protocol NodeKey {
    /// Equal for a key and the nodes that have it.
    var tableHash: Int { get }
    static func tableHash(of node: Node) -> Int
    func isKey(of node: Node) -> Bool
}

/// A dictionary of nodes whose keys are the nodes' own: a cell is eight bytes, and between a half and three quarters of
/// the cells are in use, of few nodes from three eighths on.
struct NodeTable<Key: NodeKey> {
    private(set) var count = 0
    /// Linear probing: a node is in the first cell, starting with the one given by its hash, that was free when it was
    /// inserted; no free cell is in between.
    private var cells: ContiguousArray<Node?> = []

    var isEmpty: Bool { count == 0 }

    /// All nodes, in no order.
    var values: Values { Values(cells: cells) }

    subscript(key: Key) -> Node? {
        get { index(of: key).flatMap { cells[$0] } }
        set {
            switch (index(of: key), newValue) {
            case (let index?, let node?): cells[index] = node
            case (let index?, nil): remove(at: index)
            case (nil, let node?): insert(node)
            case (nil, nil): break
            }
            assert(newValue.map { key.isKey(of: $0) } ?? true)
        }
    }

    private func index(of key: Key) -> Int? {
        guard !cells.isEmpty else { return nil }
        var index = slot(of: key.tableHash)
        while let node = cells[index] {
            if key.isKey(of: node) { return index }
            index = after(index)
        }
        return nil
    }

    private mutating func insert(_ node: Node) {
        if (count + 1) * 4 > cells.count * 3 {
            // Small tables grow in larger steps: moving the nodes costs more than the space.
            resize(to: cells.count < 8192 ? max(4, cells.count * 2) : cells.count * 3 / 2)
        }
        put(node)
        count += 1
    }

    /// Empties a cell, and moves displaced nodes towards their home cells, so that none is behind a free cell.
    private mutating func remove(at start: Int) {
        var hole = start
        var index = after(hole)
        while let node = cells[index] {
            let home = slot(of: Key.tableHash(of: node))
            let isBetween = hole < index ? hole < home && home <= index : hole < home || home <= index
            if !isBetween {
                cells[hole] = node
                hole = index
            }
            index = after(index)
        }
        cells[hole] = nil
        count -= 1
        if cells.count > 16, count * 4 < cells.count { resize(to: count * 2) }
    }

    private mutating func resize(to size: Int) {
        let old = cells
        cells = ContiguousArray(repeating: nil, count: size)
        for case let node? in old { put(node) }
    }

    private mutating func put(_ node: Node) {
        var index = slot(of: Key.tableHash(of: node))
        while cells[index] != nil { index = after(index) }
        cells[index] = node
    }

    private func slot(of hash: Int) -> Int {
        Int(((UInt(bitPattern: hash) >> 32) * UInt(cells.count)) >> 32)
    }

    private func after(_ index: Int) -> Int { index + 1 == cells.count ? 0 : index + 1 }
}

extension NodeTable: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (Key, Node)...) {
        for (key, node) in elements { self[key] = node }
    }

    /// The nodes of a table at one moment.
    struct Values: Sequence, IteratorProtocol {
        private let cells: ContiguousArray<Node?>
        private var index = 0

        fileprivate init(cells: ContiguousArray<Node?>) { self.cells = cells }

        mutating func next() -> Node? {
            while index < cells.count {
                defer { index += 1 }
                if let node = cells[index] { return node }
            }
            return nil
        }
    }
}

extension ItemNumber: NodeKey {
    var tableHash: Int { rawValue.hashValue }
    static func tableHash(of node: Node) -> Int { node.number.tableHash }
    func isKey(of node: Node) -> Bool { node.number == self }
}

extension FileName: NodeKey {
    var tableHash: Int { bytes.withUnsafeBytes { PackedTexts.hash($0) } }
    static func tableHash(of node: Node) -> Int { node.name.tableHash }
    func isKey(of node: Node) -> Bool { node.name == self }
}

extension ItemIdentifier: NodeKey {
    var tableHash: Int { PackedTexts.hash(of: rawValue) }
    static func tableHash(of node: Node) -> Int { node.base?.identifierHash ?? 0 }
    func isKey(of node: Node) -> Bool { node.base?.isIdentified(by: self) ?? false }
}
