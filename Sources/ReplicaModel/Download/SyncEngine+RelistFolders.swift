internal import Threads

extension SyncEngine {
    /// Lists every folder that is listed here and compares it: items in no listing were deleted, once all listings are
    /// complete (MODEL.md#deletion). Unchanged items are not noted.
    func relistFolders() async throws(ReceiveFailure) {
        let noted = try ReceiveFailure.recording(replica.lastIncoming)
        let asked = replica.answers
        let anchor = try await ReceiveFailure.asking(store.currentAnchor)
        var changes: [Incoming] = []
        var folders = try ReceiveFailure.recording(replica.listedFolders)
        try await listRoot()
        // No local folder corresponds to the store's trash, but it contains the items that were trashed here.
        if store.properties.keepsTrash { folders.append((ItemNumber(0), .trash)) }
        var missing = try ReceiveFailure.recording(replica.knownItemsInLostFolders)
        for folder in folders {
            BackgroundPriority.take()
            var known = try ReceiveFailure.recording { () throws(LocalStateFailure) in
                try replica.knownListing(of: folder.number, folder.identifier)
            }
            do throws(RemoteStoreError) {
                for item in try await wholeListing(of: folder.identifier) where !known.compare(item) {
                    changes.append(
                        Incoming(identifier: item.identifier, item: item, asked: asked, rewrite: unseenRewrite))
                }
            } catch {
                if error.isOfOneItem, folder.number != .root {
                    // Its entries stay unchanged, and it is listed again.
                    scheduleRelisting(folder.number, folder.identifier, error)
                    continue
                }
                guard error == .noSuchItem(folder.identifier), folder.number != .root else { throw .store(error) }
            }
            missing.append(contentsOf: known.missing)
        }
        let arrived = Set(changes.map(\.identifier))
        var unanswered: [Incoming] = []
        for identifier in missing where !arrived.contains(identifier) {
            let item: Item?
            do throws(RemoteStoreError) {
                item = try await locateUnlisted(identifier)
            } catch {
                // It need not be gone: the store is asked about it, in a later run if necessary.
                guard error.isOfOneItem else { throw .store(error) }
                unanswered.append(Incoming(identifier: identifier, item: nil, asked: 0, isQuestion: true))
                postpone(identifier, error)
                continue
            }
            changes.append(Incoming(identifier: identifier, item: item, asked: asked, rewrite: unseenRewrite))
        }
        var arrivals: Arrivals = [:]
        try ReceiveFailure.recording { () throws(LocalStateFailure) in
            try replica.recognizeSuccessors(in: &changes, &arrivals)
            try replica.noteIncoming(changes + unanswered, anchor: anchor, replacing: noted)
        }
    }

    /// How contents are treated when an item's changes were not observed.
    var unseenRewrite: PossibleRewrite { store.properties.reportsEveryContentChange ? .no : .ifTouched }

    /// A domain starts with the listing of its root, unless the root is listed already.
    private func listRoot() async throws(ReceiveFailure) {
        guard !replica.isListed(.root) else { return }
        do throws(ListingFailure) {
            try await fetchFirstListing(of: .root)
        } catch {
            switch error {
            case .store(let error): throw .store(error)
            case .here(let errno): throw .here(LocalStateFailure(message: "the listing cannot be kept: \(errno)"))
            }
        }
    }

    /// Determines the state of an item that is in no listing: it may have moved to a folder that is not listed, or
    /// during the listing.
    private func locateUnlisted(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item? {
        do throws(RemoteStoreError) {
            return try await store.item(identifier)
        } catch {
            guard error == .noSuchItem(identifier) else { throw error }
            return nil
        }
    }

    /// How many consecutive pages may contain nothing new.
    private static let mostEmptyPages = 100

    /// All items of a folder, from a listing that did not fail.
    /// - Throws: ``RemoteStoreError/malformedAnswer(_:)`` for one without an end.
    func wholeListing(of folder: ItemIdentifier) async throws(RemoteStoreError) -> [Item] {
        var items: [Item] = []
        var known: Set<ItemIdentifier> = []
        var pages: Set<EnumerationPage> = []
        var page: EnumerationPage?
        var empty = 0
        repeat {
            if isStopping.withLock({ $0 }) { throw .cancelled }
            await Task.yield()  // The store may answer without suspending.
            let next = try await store.enumerateItems(in: folder, from: page)
            let fresh = next.items.filter { known.insert($0.identifier).inserted }
            items.append(contentsOf: fresh)
            empty = fresh.isEmpty ? empty + 1 : 0
            page = next.next
            let isNew = page.map { pages.insert($0).inserted } ?? true
            guard isNew, empty <= Self.mostEmptyPages else { throw .malformedAnswer("the listing does not end") }
        } while page != nil
        return items
    }

    /// Schedules another listing of a folder that could not be listed.
    private func scheduleRelisting(_ number: ItemNumber, _ identifier: ItemIdentifier, _ error: RemoteStoreError) {
        replica.withTree { tree in
            guard let node = tree.items[number] else { return }
            tree.askAgain(for: node)
        }
        postpone(identifier, error)
    }
}

extension RemoteStoreError {
    /// Whether only this item is unavailable now; that says nothing about its existence.
    var isOfOneItem: Bool {
        switch self {
        case .malformedAnswer, .itemUnavailable, .unanswered: true
        default: false
        }
    }
}
