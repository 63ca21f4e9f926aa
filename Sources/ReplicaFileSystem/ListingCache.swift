internal import FuseMount
internal import Threads

/// The listings of folders being read, so that the next page needs no new listing.
final class ListingCache: Sendable {
    private struct Contents {
        var listings: [NodeID: Listing] = [:]
        /// Oldest first.
        var order: [NodeID] = []
    }

    /// If more folders than this are read concurrently, they are listed again.
    private static let most = 32

    private let contents = Locked(Contents())

    subscript(folder: NodeID) -> Listing? {
        contents.withLock { $0.listings[folder] }
    }

    /// Keeps a listing for the reader of the folder.
    func keep(_ listing: Listing, of folder: NodeID) {
        contents.withLock { contents in
            if contents.listings.updateValue(listing, forKey: folder) == nil { contents.order.append(folder) }
            if contents.order.count > Self.most { contents.listings[contents.order.removeFirst()] = nil }
        }
    }

    /// The folder was read completely.
    func remove(_ folder: NodeID) {
        contents.withLock { contents in
            guard contents.listings.removeValue(forKey: folder) != nil else { return }
            contents.order.removeAll { $0 == folder }
        }
    }
}
