internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Fetches what is pinned and not local, including items that are added to a pinned folder later.
    func runPinning() async {
        while !Task.isCancelled {
            let mark = wakeSignal.mark
            let isDone = await fetchPinned()
            let next = isDone ? nil : replica.now() + Self.retryIntervalSeconds
            await wakeSignal.wait(since: mark, until: next, now: replica.now)
            try? await Task.sleep(for: .milliseconds(20))  // Throws only when cancelled, at the end.
        }
    }

    /// The number of seconds until failed items are retried.
    private static let retryIntervalSeconds = 5.0
    /// The number of concurrent fetches; it is low because programs that wait for files take precedence.
    private static let mostAtOnce = 4

    /// - Returns: Whether nothing is left to fetch, as far as is known.
    func fetchPinned() async -> Bool {
        let isPossible = state.withLock { $0.disconnected == nil && $0.storeFailure?.isOfChanges ?? true }
        guard isPossible, !replica.isScanning else { return replica.withTree { $0.wanted.isEmpty } }
        return await withTaskGroup(of: ItemNumber?.self) { group in
            var running = 0
            var failed: Set<ItemNumber> = []
            let most = options.isSequential ? 1 : Self.mostAtOnce
            while !Task.isCancelled {
                while running < most, let number = nextWanted() {
                    running += 1
                    group.addTask { await self.fetch(number) ? nil : number }
                }
                guard running > 0, let outcome = await group.next() else { break }
                running -= 1
                if let number = outcome { failed.insert(number) }
            }
            replica.putBackWanted(failed)
            return failed.isEmpty
        }
    }

    private func nextWanted() -> ItemNumber? {
        do {
            return try replica.takeWanted()
        } catch {
            log.error("the database can't be read", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// - Returns: False if it has to be retried.
    private func fetch(_ number: ItemNumber) async -> Bool {
        do throws(Errno) {
            let held: HeldItem?
            do throws(ReplicaError) { held = try replica.hold(number) } catch { throw error.errno }
            guard let held else { return true }
            defer { replica.forget(held.inodeNumber, count: 1) }
            switch replica.wantedKind(of: held.number) {
            case .folder: try await list(held.inodeNumber)
            case .file: try await hydrate(held.inodeNumber, range: nil)
            case .symlink, nil: break
            }
            return true
        } catch {
            if error.isFullDisk { noteFullDisk() }
            log.info("a pinned item can't be downloaded", metadata: ["item": "\(number)", "errno": "\(error)"])
            return error == .noSuchFileOrDirectory
        }
    }
}
