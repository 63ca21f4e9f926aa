/// Identifies a presented change, so that a later one at the same place is not mistaken for it.
package struct PresentationTicket: Sendable, Hashable {
    fileprivate var number: UInt64
}

/// The changes that the daemon's own requests will make, by the place in the request.
struct Presentations {
    private struct Waiting {
        var ticket: PresentationTicket
        var carryOut: (Tree) -> Result<KernelEntry?, ReplicaError>
    }

    private var waiting: [ItemPlace: Waiting] = [:]
    private var added: UInt64 = 0
    /// Names that changed without the kernel's knowledge, and how many invalidations of each it has not carried out yet.
    ///
    /// A rename of such a name moves what the kernel still has there: it shows that item under the new name permanently.
    private var unreported: [ItemPlace: Int] = [:]

    /// Files whose newer content the kernel is being told about, by inode number: it may still cut reads at the former size.
    private var contents: [ItemNumber: Int] = [:]

    mutating func beginContent(of number: ItemNumber) { contents[number, default: 0] += 1 }

    mutating func endContent(of number: ItemNumber) {
        let left = contents[number, default: 1] - 1
        contents[number] = left > 0 ? left : nil
    }

    func isTellingContent(of number: ItemNumber) -> Bool { contents[number] != nil }

    /// Names of which the kernel has not carried out all invalidations.
    var unreportedPlaces: Set<ItemPlace> { Set(unreported.keys) }

    mutating func addUnreported(_ places: [ItemPlace]) {
        for place in places { unreported[place, default: 0] += 1 }
    }

    mutating func removeUnreported(_ places: [ItemPlace]) {
        for place in places {
            let left = unreported[place, default: 1] - 1
            unreported[place] = left > 0 ? left : nil
        }
    }

    /// Notes that the kernel renames between these places: if one of them is unreported, both are from then on.
    /// - Returns: Whether they are.
    mutating func spreadUnreported(_ places: [ItemPlace]) -> Bool {
        guard places.contains(where: { unreported[$0] != nil }) else { return false }
        addUnreported(places)
        return true
    }

    /// Nil if another change waits there.
    mutating func add(_ key: ItemPlace, _ carryOut: @escaping (Tree) -> Result<KernelEntry?, ReplicaError>)
        -> PresentationTicket?
    {
        guard waiting[key] == nil else { return nil }
        added += 1
        let ticket = PresentationTicket(number: added)
        waiting[key] = Waiting(ticket: ticket, carryOut: carryOut)
        return ticket
    }

    /// Nil for an abandoned call: the change that waits there now belongs to a later one.
    mutating func take(_ ticket: PresentationTicket, _ key: ItemPlace) -> (
        (Tree) -> Result<KernelEntry?, ReplicaError>
    )? {
        guard waiting[key]?.ticket == ticket else { return nil }
        return waiting.removeValue(forKey: key)?.carryOut
    }

    /// Withdraws a change whose request did not come.
    /// - Returns: False if a request came. Another change may wait at the place by then; it stays.
    mutating func withdraw(_ ticket: PresentationTicket, _ key: ItemPlace) -> Bool {
        guard waiting[key]?.ticket == ticket else { return false }
        waiting[key] = nil
        return true
    }
}
