/// Items that left a folder, each once, looked through one after the other: in an order that no hash decides.
struct Departures {
    private var order: [ItemNumber] = []
    private var members: Set<ItemNumber> = []

    var last: ItemNumber? { order.last }

    mutating func insert(_ number: ItemNumber) {
        if members.insert(number).inserted { order.append(number) }
    }

    mutating func removeLast() {
        if let number = order.popLast() { members.remove(number) }
    }
}
