internal import ReplicaModel

/// The listings of the folders that are being read, so that the next page needs no new one.
final class ListingCache: Sendable {
    private struct Contents {
        var listings: [ItemNumber: Listing] = [:]
        /// Oldest first.
        var order: [ItemNumber] = []
    }

    /// Who reads more folders than these at a time has listings made anew.
    private static let most = 32

    private let contents = Locked(Contents())

    subscript(folder: ItemNumber) -> Listing? {
        contents.withLock { $0.listings[folder] }
    }

    /// Keeps what a reader of the folder goes on with.
    func keep(_ listing: Listing, of folder: ItemNumber) {
        contents.withLock { contents in
            if contents.listings.updateValue(listing, forKey: folder) == nil { contents.order.append(folder) }
            if contents.order.count > Self.most { contents.listings[contents.order.removeFirst()] = nil }
        }
    }

    /// The folder was read to its end.
    func remove(_ folder: ItemNumber) {
        contents.withLock { contents in
            guard contents.listings.removeValue(forKey: folder) != nil else { return }
            contents.order.removeAll { $0 == folder }
        }
    }
}
