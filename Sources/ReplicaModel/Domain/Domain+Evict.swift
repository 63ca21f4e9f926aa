package import SystemPackage
internal import Threads

/// The result of an eviction.
package struct Eviction: Sendable, Hashable {
    /// An item that was not evicted.
    package struct Refusal: Sendable, Hashable {
        package var path: [FileName]
        package var reason: EvictionRefusal
    }
    /// Items that became dataless.
    package var items = 0
    /// Bytes freed.
    package var bytes: Int64 = 0
    package var refused: [Refusal] = []
}

extension Domain {
    /// Frees the space of content that the store has too (statement 40). For a folder, evicts everything below it.
    /// Names, sizes, times and attributes stay, and so do the listings of folders, which can still be read offline.
    /// - Parameters:
    ///   - isStrict: Whether nothing is evicted if any item can't be: the first refusal is the result, like
    ///     nonEvictableChildren. Otherwise as much as possible is evicted.
    ///   - work: Receives the progress.
    /// - Throws: ENOENT; ENOTDIR; EIO when the database can't be written.
    package func evict(_ path: [FileName], isStrict: Bool, work: RequestProgress = RequestProgress())
        async throws(Errno) -> Eviction
    {
        let held = try await hold(path, listing: false)
        defer { release(held) }
        await verifyStore()
        if Task.isCancelled { throw .interrupted }
        await engine.makeDurableIfPossible()
        return try evict(held, path, isStrict: isStrict, work)
    }

    /// Evicts as much as possible below a folder, then drops the listings of folders whose entries are all evicted:
    /// these folders are dataless themselves, and are listed again when they are next read. A folder in use keeps its
    /// listing, and so does one whose entries have attributes that the store can't keep (MODEL.md#eviction).
    /// - Throws: The errors of ``evict(_:isStrict:work:)``; EINVAL if it is not a folder.
    package func forget(_ path: [FileName], work: RequestProgress = RequestProgress()) async throws(Errno) -> Eviction {
        let held = try await hold(path, listing: false)
        await verifyStore()
        if Task.isCancelled {
            release(held)
            throw .interrupted
        }
        await engine.makeDurableIfPossible()
        var result = try evictBelow(held, path, work)
        // The folder itself was released first, otherwise it would count as in use.
        try await drop(held.number, &result)
        return result
    }

    /// Finds out whether this is still the same store, and what it reports, before content is freed that only it has then.
    func verifyStore() async {
        let mayAsk = engine.state.withLock { $0.disconnected == nil && $0.isStoreReadable }
        guard mayAsk, engine.pause.left == 0 else { return }
        await engine.recognizeAgain()
        // Only a domain that runs receives changes.
        guard isRunning, !engine.options.isSequential, engine.isStoreAnswering else { return }
        let pull = engine.askForPull()
        for _ in 0..<Self.verifyingRounds {
            guard engine.isStoreAnswering, engine.state.withLock({ $0.pulls.done < pull }) else { return }
            try? await Task.sleep(for: .milliseconds(20))  // A cancelled task ends after this.
        }
    }

    private func evictBelow(_ folder: HeldItem, _ path: [FileName], _ work: RequestProgress) throws(Errno) -> Eviction {
        defer { release(folder) }
        guard replica.withTree({ $0.items[folder.number]?.kind }) == .folder else { throw .invalidArgument }
        return try evict(folder, path, isStrict: false, work)
    }

    private func evict(
        _ held: HeldItem, _ path: [FileName], isStrict: Bool, _ work: RequestProgress
    ) throws(Errno) -> Eviction {
        let files = try files(at: held.number, path, work)
        var result = Eviction()
        if isStrict, let refusal = firstRefusal(of: files) {
            result.refused.append(refusal)
            return result
        }
        for file in files {
            do throws(EvictionRefusal) {
                if let bytes = try engine.evict(file.number) {
                    result.items += 1
                    result.bytes = result.bytes.saturatingAdd(bytes)
                }
            } catch {
                result.refused.append(Eviction.Refusal(path: file.path, reason: error))
            }
            work.finishItem()
            if Task.isCancelled { throw .interrupted }
        }
        return result
    }

    private func firstRefusal(of files: [FileBelow]) -> Eviction.Refusal? {
        for file in files {
            guard let reason = engine.evictionRefusal(of: file.number) else { continue }
            return Eviction.Refusal(path: file.path, reason: reason)
        }
        return nil
    }

    /// Drops listings from the bottom up.
    private func drop(_ folder: ItemNumber, _ result: inout Eviction) async throws(Errno) {
        guard store.properties.fields.isSuperset(of: Self.neededFields), engine.isStoreAnswering else { return }
        do {
            if try replica.isDeletedInStore(folder) { return }
        } catch {
            throw Errno(state: error)
        }
        for child in try children(of: folder) where child.kind == .folder { try await drop(child.number, &result) }
        replica.releaseEntries(of: folder)
        for _ in 0..<Self.forgettingRounds where replica.hasKnownEntries(folder) {
            try? await Task.sleep(for: .milliseconds(10))  // A cancelled task finds the folder in use.
        }
        do {
            if try replica.dropListing(of: folder) { result.items += 1 }
        } catch {
            throw Errno(state: error)
        }
    }

    /// The entries that would be lost with a listing if the store did not have them.
    private static let neededFields: ItemFields = [.mode, .modificationDate, .unobservable]
    /// How many rounds of 20 ms to wait for the store's changes.
    private static let verifyingRounds = 250
    /// How many rounds of 10 ms to wait for the kernel to forget entries.
    private static let forgettingRounds = 50
}
