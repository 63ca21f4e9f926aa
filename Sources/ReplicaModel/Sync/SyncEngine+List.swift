internal import Glibc
internal import SystemPackage

extension SyncEngine {
    /// Brings a folder's first listing. Callers for one folder share it.
    func list(_ folder: ItemNumber) async throws(Errno) {
        let listing = listings.withLock { listings -> Task<Errno?, Never> in
            if let running = listings[folder] { return running }
            let task = Task<Errno?, Never> {
                let outcome = await self.fetchListing(folder)
                self.listings.withLock { $0[folder] = nil }
                return outcome
            }
            listings[folder] = task
            return task
        }
        if let error = await listing.value { throw error }
    }

    private func fetchListing(_ folder: ItemNumber) async -> Errno? {
        do throws(Errno) {
            let target: ItemIdentifier?
            do throws(Obstacle) { target = try replica.listingTarget(folder) } catch { throw error.errno }
            guard let target else { return nil }
            try checkConnected()
            let items: [Item]
            do throws(RemoteStoreError) {
                items = try await wholeListing(of: target)
            } catch {
                if error == .noSuchItem(target) { await ask(target) }
                throw error.errno
            }
            do throws(Obstacle) {
                let refused = try replica.fill(folder, with: items)
                state.withLock { $0.refused.formUnion(refused) }
            } catch {
                throw error.errno
            }
            bell.ring()
            return nil
        } catch {
            return error
        }
    }

    /// - Throws: ENETDOWN while the domain is disconnected.
    func checkConnected() throws(Errno) {
        guard state.withLock({ $0.disconnected == nil }) else { throw .networkDown }
    }
}

extension RemoteStoreError {
    /// What a program waiting for content or a listing is told (file-provider.md §0).
    var errno: Errno {
        switch self {
        case .noSuchItem: .noSuchFileOrDirectory
        case .filenameCollision: .fileExists
        case .directoryNotEmpty: .directoryNotEmpty
        case .insufficientQuota: Errno(rawValue: EDQUOT)
        case .serverUnreachable, .syncAnchorExpired: .noRouteToHost
        case .notAuthenticated: .permissionDenied
        case .versionNoLongerAvailable, .versionConflict: Errno(rawValue: ESTALE)
        case .cancelled: .interrupted
        case .cannotSynchronize, .deletionRejected, .excludedFromSync, .unsupported: .ioError
        }
    }
}
