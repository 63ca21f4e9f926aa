internal import ReplicaModel
internal import Threads

/// The listings of folders being read, so that the next page needs no new listing.
final class ListingCache: Sendable {
    private struct Contents {
        var listings: [ItemNumber: Listing] = [:]
        /// Oldest first.
        var order: [ItemNumber] = []
    }

    /// If more folders than this are read concurrently, they are listed again.
    private static let most = 32

    private let contents = Locked(Contents())

    subscript(folder: ItemNumber) -> Listing? {
        contents.withLock { $0.listings[folder] }
    }

    /// Keeps a listing for the reader of the folder.
    func keep(_ listing: Listing, of folder: ItemNumber) {
        contents.withLock { contents in
            if contents.listings.updateValue(listing, forKey: folder) == nil { contents.order.append(folder) }
            if contents.order.count > Self.most { contents.listings[contents.order.removeFirst()] = nil }
        }
    }

    /// The folder was read completely.
    func remove(_ folder: ItemNumber) {
        contents.withLock { contents in
            guard contents.listings.removeValue(forKey: folder) != nil else { return }
            contents.order.removeAll { $0 == folder }
        }
    }
}
