internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Pulls the store's changes if there is a reason to, and applies all noted changes.
    func receive() async {
        guard !replica.isScanning, state.withLock({ $0.disconnected == nil }) else { return }
        if pause.left == 0, state.withLock({ $0.pulls.isWanted || $0.pulls.next <= replica.now() }) { await pull() }
        if knowsOwnCalls() { await applyIncoming() }
    }

    /// Whether all calls of the last run are answered. Until then, what they created would be mistaken for another client's.
    private func knowsOwnCalls() -> Bool {
        if state.withLock({ $0.pulls.knowsOwnCalls }) { return true }
        guard !replica.hasUnansweredCalls else { return false }
        state.withLock { $0.pulls.knowsOwnCalls = true }
        return true
    }

    /// Pulls the store's changes and notes them.
    func pull() async {
        let number = state.withLock { $0.pulls.begin() }
        let asked = replica.answers
        do throws(ReceiveFailure) {
            try await ReceiveFailure.asking(recognizeStore)
            let isAll = try await pullChanges()
            state.withLock { $0.pulls.lastAsked = asked }
            clearTroubleByReading()
            noteDoubt(false)
            takeProperties()
            askForUsage(olderThan: Self.longestSeconds)
            state.withLock { state in
                state.feedTrouble = nil
                state.pulls.takesOtherStore = false
                // These changes are applied before more are requested.
                state.pulls.next = replica.now() + (isAll ? options.pullIntervalSeconds : Self.pauseSeconds)
                if isAll { state.pulls.done = number }
            }
        } catch {
            state.withLock { $0.pulls.fail() }
            // A store polls everything only for a waiting caller, which may have given up.
            if state.withLock({ $0.pulls.pollers > 0 }) { store.pollEverything() }
            switch error {
            case .store(let error): noteFeedFailure(error)
            case .here(let trouble):
                noteTrouble(trouble)
                state.withLock { state in
                    state.pulls.isWanted = true
                    state.pulls.next = state.storeFailure?.retryAt ?? replica.now() + options.pullIntervalSeconds
                }
            }
        }
    }

    /// The pause before missing items are requested.
    private static let pauseSeconds = 0.1

    private func noteFeedFailure(_ error: RemoteStoreError) {
        if case .malformedAnswer = error {
            log.warning("an answer was rejected", metadata: ["error": "\(error.message)"])
            let jitter = random()
            state.withLock { state in
                let attempts = (state.feedTrouble?.attempts ?? 0) + 1
                let delay = Backoff.delay(attempts: attempts, jitter: jitter, isAwaited: state.waiters > 0)
                let retryAt = replica.now() + delay
                state.feedTrouble = Failure(
                    code: error.code, message: error.message, attempts: attempts, retryAt: retryAt)
                state.pulls.next = retryAt
                state.pulls.done = state.pulls.begun
            }
            return
        }
        noteRecognitionFailure(error)
        state.withLock { state in
            state.pulls.next = state.storeFailure?.retryAt ?? replica.now() + options.pullIntervalSeconds
        }
    }

    /// How many batches are noted before their changes are applied.
    private static let mostBatches = 1_000
    /// How many batches in a row may be empty while the store says that there are more.
    private static let mostEmptyBatches = 100

    /// Requests the changes since the last anchor, and notes them in the database.
    /// - Returns: Whether there are no more changes, and no item that is waited for is missing.
    private func pullChanges() async throws(ReceiveFailure) -> Bool {
        var isListed = false
        var arrivals: Arrivals = [:]
        var empty = 0
        var isIncomplete = false
        for _ in 0..<Self.mostBatches {
            if Task.isCancelled { throw .store(.cancelled) }
            await Task.yield()  // The store may answer without suspending.
            guard let anchor = replica.anchor(), store.properties.hasChangeFeed else {
                if isListed { return true }
                isListed = true
                try await relistFolders()
                continue
            }
            let asked = replica.answers
            let batch: ChangeBatch
            do throws(RemoteStoreError) {
                batch = try await store.enumerateChanges(from: anchor)
            } catch {
                guard error == .syncAnchorExpired || isAllowed(error) else { throw .store(error) }
                if isListed { return true }
                // An item that moved while the folders were listed may be in no listing: the changes since then report
                // it.
                isListed = true
                try await relistFolders()
                continue
            }
            var changes =
                batch.updated.map {
                    let rewrite: Rewrite = batch.rewritten.contains($0.identifier) ? .told : .no
                    return Incoming(identifier: $0.identifier, item: $0, asked: asked, rewrite: rewrite)
                }
                + batch.deleted.map { Incoming(identifier: $0, item: nil, asked: asked) }
            try ReceiveFailure.recording { () throws(StateTrouble) in
                try replica.recognizeSuccessors(in: &changes, &arrivals)
                try replica.noteIncoming(changes, anchor: batch.anchor)
            }
            isIncomplete = isIncomplete || batch.isIncomplete
            guard batch.moreComing else {
                return state.withLock { [isIncomplete] in
                    $0.pulls.isLast(isIncomplete: isIncomplete, at: replica.now())
                }
            }
            empty = changes.isEmpty ? empty + 1 : 0
            if empty > Self.mostEmptyBatches {
                throw .store(.malformedAnswer("the store announces more changes but returns none"))
            }
        }
        return false
    }

    /// Lists every folder that is listed here and compares it: items in no listing were deleted, once all listings are
    /// complete (MODEL.md#deletion). Unchanged items are not noted.
    private func relistFolders() async throws(ReceiveFailure) {
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
            var known = try ReceiveFailure.recording { () throws(StateTrouble) in
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
        try ReceiveFailure.recording { () throws(StateTrouble) in
            try replica.recognizeSuccessors(in: &changes, &arrivals)
            try replica.noteIncoming(changes + unanswered, anchor: anchor, replacing: noted)
        }
    }

    /// How contents are treated when an item's changes were not observed.
    var unseenRewrite: Rewrite { store.properties.reportsEveryContentChange ? .no : .ifTouched }

    /// A domain starts with the listing of its root, unless the root is listed already.
    private func listRoot() async throws(ReceiveFailure) {
        guard !replica.isListed(.root) else { return }
        do throws(ListingFailure) {
            try await fetchFirstListing(of: .root)
        } catch {
            switch error {
            case .store(let error): throw .store(error)
            case .here(let errno): throw .here(StateTrouble(message: "the listing cannot be kept: \(errno)"))
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
