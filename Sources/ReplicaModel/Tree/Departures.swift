/// Items that left a folder, each once, looked through one after the other: in an order that no hash decides.
struct Departures {
    private var order: [ItemNumber] = []
    private var members: Set<ItemNumber> = []

    var last: ItemNumber? { order.last }

    /// Whether any of the items is one that `condition` is true of.
    func contains(where condition: (ItemNumber) -> Bool) -> Bool { members.contains(where: condition) }

    mutating func insert(_ number: ItemNumber) {
        if members.insert(number).inserted { order.append(number) }
    }

    mutating func removeLast() {
        if let number = order.popLast() { members.remove(number) }
    }
}
