import ReplicaModel

/// The listings whose pages are still being requested.
struct ListingTable {
    /// Older listings are dropped; their pages are then unknown.
    private static let longest = 64

    private var names: [UInt64: [FileName]] = [:]
    private var order: [UInt64] = []
    private var count: UInt64 = 0

    mutating func add(_ listing: [FileName]) -> UInt64 {
        count += 1
        names[count] = listing
        order.append(count)
        if order.count > Self.longest { names[order.removeFirst()] = nil }
        return count
    }

    mutating func remove(_ number: UInt64) {
        names[number] = nil
        order.removeAll { $0 == number }
    }

    func page(_ page: EnumerationPage, _ size: Int) throws(RemoteStoreError) -> Page {
        let parts = String(decoding: page.bytes, as: UTF8.self).split(separator: ".").map { UInt64($0) }
        guard parts.count == 2, let number = parts[0], let start = parts[1], let listing = names[number],
            start <= listing.count
        else { throw .syncAnchorExpired }
        let end = min(Int(start) + size, listing.count)
        return Page(
            number: number, names: listing[Int(start)..<end],
            next: end == listing.count ? nil : EnumerationPage(bytes: Array("\(number).\(end)".utf8)))
    }

    struct Page {
        var number: UInt64
        var names: ArraySlice<FileName>
        var next: EnumerationPage?
    }
}
