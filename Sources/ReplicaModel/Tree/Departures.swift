/// The items that left a folder, in the order in which they left.
struct Departures {
    private var order: [ItemNumber] = []
    private var members: Set<ItemNumber> = []

    var last: ItemNumber? { order.last }

    /// Whether `condition` is true for any of the items.
    func contains(where condition: (ItemNumber) -> Bool) -> Bool { members.contains(where: condition) }

    mutating func insert(_ number: ItemNumber) {
        if members.insert(number).inserted { order.append(number) }
    }

    mutating func removeLast() {
        if let number = order.popLast() { members.remove(number) }
    }
}
