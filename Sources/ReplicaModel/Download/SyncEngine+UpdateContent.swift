internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Updates the content of a materialized file. The old content stays in place until the new one was fetched.
    ///
    /// Other changes are applied during the fetch: they may move the item, or give its identifier to another file.
    /// Fetched content therefore waits in staging until a pass applies the change that is noted by then.
    /// - Parameter asked: ``Incoming/asked``.
    /// - Returns: Whether the change is done.
    func applyContent(of item: Item, asked: UInt64, _ rewrite: PossibleRewrite) async -> Bool {
        if let staged = state.withLock({ $0.arrivals.staged.removeValue(forKey: item.identifier) }) {
            // Two contents may have been fetched under one version, if the version is not reliable.
            let isOfItem = rewrite == .no || staged.metadataVersion == item.version.metadata
            if staged.version == item.version.content, isOfItem { return apply(item, asked: asked, staged, rewrite) }
            staged.discard()
        }
        guard !options.isSequential else {
            guard let staged = await fetchUpdate(of: item) else { return false }
            return apply(item, asked: asked, staged, rewrite)
        }
        let isNew = state.withLock { $0.arrivals.updating.insert(item.identifier).inserted }
        guard isNew else { return false }
        background.start {
            let staged = await self.fetchUpdate(of: item)
            self.state.withLock { state in
                state.arrivals.updating.remove(item.identifier)
                state.arrivals.staged[item.identifier] = staged
            }
            if staged != nil { self.wakeSignal.signal() }
        }
        return false
    }

    /// Discards fetched contents and comparisons for changes that are no longer noted.
    func discardUnwanted() {
        for identifier in state.withLock({ Array($0.arrivals.compared.keys) }) {
            guard let isNoted = try? replica.isNoted(identifier), !isNoted else { continue }
            state.withLock { $0.arrivals.compared[identifier] = nil }
        }
        for identifier in state.withLock({ Array($0.arrivals.staged.keys) }) {
            // If the database can't be read, the change may still be noted.
            guard let isNoted = try? replica.isNoted(identifier), !isNoted else { continue }
            state.withLock { $0.arrivals.staged.removeValue(forKey: identifier) }?.discard()
        }
    }

    private func apply(_ item: Item, asked: UInt64, _ staged: StagedContent, _ rewrite: PossibleRewrite) -> Bool {
        defer { staged.discard() }
        do throws(ReplicaError) {
            guard try replica.apply(item, asked: asked, staged: staged, rewrite: rewrite) == .done else { return false }
            state.withLock { $0.postponed.remove(item.identifier) }
            return true
        } catch {
            postponeUnappliable(item.identifier, error)
            return false
        }
    }

    /// - Returns: Nil if the content could not be fetched; the failure is noted.
    private func fetchUpdate(of item: Item) async -> StagedContent? {
        do throws(RemoteStoreError) {
            return try await stage(item)
        } catch {
            await noteFailedUpdate(of: item, error)
            return nil
        }
    }

    /// An item's content could not be fetched.
    func noteFailedUpdate(of item: Item, _ error: RemoteStoreError) async {
        if error == .versionNoLongerAvailable || error == .noSuchItem(item.identifier) {
            await ask(item.identifier)
        } else if error.classification.reach == .item {
            postpone(item.identifier, error)
        } else {
            noteStoreFailure(error)
        }
    }
}
