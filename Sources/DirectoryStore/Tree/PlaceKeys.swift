import ReplicaModel

/// The keys of items on a filesystem that can't store them: derived from the places where the items were first seen,
/// and equal in every process. An item that the store moves keeps its key, and a later item at its former place gets
/// another one; ``PlaceMemory`` stores these exceptions.
struct PlaceKeys {
    /// The keys that differ from those of their places.
    private(set) var exceptions: [EntryPlace: ItemKey] = [:]
    private var places: [ItemKey: EntryPlace] = [:]

    /// The key of the item at a place.
    func key(at place: EntryPlace, _ kind: ItemKind) -> ItemKey {
        // An item of another kind under the same name is another item.
        if let key = exceptions[place], key.kindOfPlace == kind { return key }
        var number: Int64 = 0
        while true {
            let key = ItemKey(place, kind, number: number)
            if places[key].map({ $0 == place }) ?? true { return key }
            number += 1
        }
    }

    /// Sets the key of the item at a place; nil if the place is empty.
    mutating func set(_ key: ItemKey?, at place: EntryPlace) {
        if let old = exceptions.removeValue(forKey: place) { places[old] = nil }
        guard let key else { return }
        if let former = places[key] { exceptions[former] = nil }
        exceptions[place] = key
        places[key] = place
    }

    /// The former places of removed items, if they are exceptions.
    func places(of keys: [ItemKey]) -> [EntryPlace] { keys.compactMap { places[$0] } }
}

extension ItemKey {
    /// The key of the item at a place that was previously occupied by `number` moved items.
    init(_ place: EntryPlace, _ kind: ItemKind, number: Int64) {
        self.init(inode: max(1, place.hash64), birth: number << 8 | Int64(kind.rawValue), link: 0)
    }

    fileprivate var kindOfPlace: ItemKind? { ItemKind(rawValue: UInt8(truncatingIfNeeded: birth)) }
}
