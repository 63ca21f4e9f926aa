internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

/// Why a listing failed.
enum ListingFailure: Error {
    case here(Errno)
    case store(RemoteStoreError)

    /// The errno for a program that waits for the listing.
    var errno: Errno {
        switch self {
        case .here(let errno): errno
        case .store(let error): error.errno
        }
    }
}

extension SyncEngine {
    /// Fetches a folder's first listing for a program that waits for it.
    func list(_ folder: ItemNumber) async throws(Errno) {
        do throws(ListingFailure) { try await fetchFirstListing(of: folder) } catch { throw error.errno }
    }

    /// Fetches the listing of a folder that a change in the store refers to. If that fails, the change waits.
    func listForChange(_ folder: ItemNumber) async {
        do throws(Errno) {
            try await list(folder)
        } catch {
            log.info("a folder cannot be listed", metadata: ["item": "\(folder)", "errno": "\(error)"])
        }
    }

    /// The maximum number of unknown folders above an item.
    private static let mostUnknown = 256

    /// Lists the unknown folders above a folder, from the top, and the folder itself. If one of them moved in the meantime or cannot
    /// be listed, the next attempt continues.
    /// - Returns: Why the store did not say where the folder is.
    func listPath(to folder: ItemIdentifier) async throws(ReplicaError) -> RemoteStoreError? {
        var (here, unknown): (ItemIdentifier, [ItemIdentifier]) = (folder, [])
        while try replica.number(of: here) == nil {
            guard unknown.count < Self.mostUnknown else {
                return .malformedAnswer("its chain of parent folders does not end")
            }
            do throws(RemoteStoreError) {
                let item = try await store.item(here)
                guard item.kind == .folder else { return .malformedAnswer("its parent is not a folder") }
                unknown.append(here)
                here = item.parent
            } catch {
                return error == .noSuchItem(here) ? .itemUnavailable("its folder is not in the store") : error
            }
        }
        for identifier in [here] + unknown.reversed() {
            guard let number = try replica.number(of: identifier) else { break }
            await listForChange(number)
        }
        return nil
    }

    /// Fetches a folder's first listing. Concurrent callers for one folder share it.
    func fetchFirstListing(of folder: ItemNumber) async throws(ListingFailure) {
        let listing = listings.withLock { listings -> Task<ListingFailure?, Never> in
            if let running = listings[folder] { return running }
            let task = background.start { () async -> ListingFailure? in
                let outcome = await self.fetchListing(folder)
                self.listings.withLock { $0[folder] = nil }
                return outcome
            }
            listings[folder] = task
            return task
        }
        if let failure = await listing.value { throw failure }
    }

    private func fetchListing(_ folder: ItemNumber) async -> ListingFailure? {
        do throws(ListingFailure) {
            let target = try here { () throws(ReplicaError) in try replica.listingTarget(folder) }
            guard let target else { return nil }
            do throws(Errno) { try checkConnected() } catch { throw .here(error) }
            let asked = replica.answers
            let items = try await listing(of: target, folder)
            let refused = try here { () throws(ReplicaError) in try replica.fill(folder, with: items, asked: asked) }
            state.withLock { state in
                for item in refused { state.reject(item.identifier, item.filename.shortened) }
            }
            wakeSignal.signal()
            return nil
        } catch {
            return error
        }
    }

    private func listing(of target: ItemIdentifier, _ number: ItemNumber) async throws(ListingFailure) -> [Item] {
        do throws(RemoteStoreError) {
            let items = try await wholeListing(of: target)
            endFailedFetch(of: number)
            return items
        } catch {
            noteFailedFetch(of: number, target, error)
            if error == .noSuchItem(target) { await ask(target) }
            throw .store(error)
        }
    }

    private func here<Result>(_ body: () throws(ReplicaError) -> Result) throws(ListingFailure) -> Result {
        do { return try body() } catch { throw .here(error.errno) }
    }

    /// - Throws: ENETDOWN while the domain is disconnected.
    func checkConnected() throws(Errno) {
        guard state.withLock({ $0.disconnected == nil }) else { throw .networkDown }
    }
}

extension RemoteStoreError {
    /// The errno for a program that waits for content or a listing (MODEL.md#errors).
    var errno: Errno {
        switch self {
        case .noSuchItem: .noSuchFileOrDirectory
        case .filenameCollision: .fileExists
        case .directoryNotEmpty: .directoryNotEmpty
        case .insufficientQuota: .quotaExceeded
        case .readOnly: .readOnlyFileSystem
        case .serverUnreachable, .unanswered, .busy, .syncAnchorExpired: .noRouteToHost
        case .notAuthenticated: .permissionDenied
        case .versionNoLongerAvailable, .versionConflict: .stale
        case .cancelled: .interrupted
        case .cannotSynchronize, .itemUnavailable, .malformedAnswer, .deletionRejected, .excludedFromSync, .unsupported:
            .ioError
        }
    }
}
