internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Makes a range of a file local. Readers of bytes that are already being fetched wait for that fetch.
    func hydrate(_ number: ItemNumber, range: Range<Int64>?) async throws(Errno) {
        try await endDoubt(of: number)
        let end = replica.now() + Self.replacementSeconds
        while true {
            let target: FetchTarget?
            do throws(ReplicaError) { target = try replica.fetchTarget(number, range: range) } catch {
                throw error.errno
            }
            guard let target else { return }
            try checkConnected()
            if Task.isCancelled { throw .interrupted }
            guard let first = target.missing.first else {
                return try await complete(target)  // Only the mark has to be removed.
            }
            if try await waitForAnnounced(target, until: end) { continue }
            if try await waitForRewrite(of: target, until: end) { continue }
            let wanted = widened(first, of: target)
            if fetches.withLock({ $0.begin(wanted, needed: first, of: target.number) }) {
                try await fetch(wanted, target, until: end)
            } else {
                try await waitForFetch(of: target, first)
            }
        }
    }

    /// If the answer to a call said that the store has another content, this placeholder still has the size of the former
    /// one. Waits until the other is applied.
    /// - Returns: False if that is not so, or the store gives contents no versions.
    /// - Throws: ESTALE if it is not applied in time; the store's error.
    func waitForAnnounced(_ target: FetchTarget, until end: Double) async throws(Errno) -> Bool {
        guard target.version.isEmpty else { return false }
        let asked = replica.answers
        let item: Item
        do throws(RemoteStoreError) { item = try await store.item(target.identifier) } catch { throw error.errno }
        guard !item.version.content.isEmpty else { return false }
        note(target.identifier, item, asked: asked)
        if options.isSequential { await receive() }
        guard await waitForOther(than: target, until: options.isSequential ? 0 : end) else {
            throw Task.isCancelled ? .interrupted : .stale
        }
        return true
    }

    /// Where content versions are ambiguous, checks that the bytes to be fetched belong to the same content as those
    /// already local.
    /// - Returns: Whether the item has changed in the store and the change was applied.
    /// - Throws: ESTALE if the change is not applied in time.
    private func waitForRewrite(of target: FetchTarget, until end: Double) async throws(Errno) -> Bool {
        guard !store.properties.reportsEveryContentChange, !target.isUntouched, !options.isSequential else {
            return false
        }
        let item: Item
        let asked = replica.answers
        do throws(RemoteStoreError) { item = try await store.item(target.identifier) } catch {
            return false  // The fetch will fail with the same error and report it.
        }
        guard item.version.content == target.version, item.version.metadata != target.metadataVersion else {
            return false
        }
        note(target.identifier, item, asked: asked)
        while replica.isAsKnown(by: target) {
            if Task.isCancelled { throw .interrupted }
            guard replica.now() < end else { throw Errno.stale }
            try? await Task.sleep(for: .milliseconds(5))  // Throws only when the reader is interrupted.
        }
        return true
    }

    /// Waits until a file in doubt after a power cut has been compared with the store.
    private func endDoubt(of number: ItemNumber) async throws(Errno) {
        let end = replica.now() + Self.longestDoubt
        while let doubt = replica.doubt(of: number) {
            if Task.isCancelled { throw .interrupted }
            let isAway = state.withLock { !($0.storeFailure?.isOfChanges ?? true) || $0.disconnected != nil }
            if isAway || replica.now() > end {
                // A file created just before the power cut may exist nowhere else.
                guard doubt.mayBeInStore else { return replica.trust(number) }
                try checkConnected()
                throw .noRouteToHost
            }
            if let identifier = doubt.identifier, !replica.isScanning { await ask(identifier) }
            if options.isSequential {
                await receive()
                guard replica.doubt(of: number) == nil else { throw .noRouteToHost }
            }
            try? await Task.sleep(for: .milliseconds(20))  // Throws only when the reader is interrupted.
        }
    }

    /// The number of seconds that a program waits for this comparison.
    private static let longestDoubt = 60.0

    /// The number of seconds that a first read waits for newer content if the requested version is gone.
    static let replacementSeconds = 10.0

    /// Waits for the newer content of a file whose requested version is no longer in the store. If none of the file was
    /// local, nobody has read any of it, and the reader gets the newer content (MODEL.md#content, strictVersioning).
    /// - Returns: False if the file is gone, was already read, or its new state is not known in time.
    func awaitOther(than target: FetchTarget, until end: Double) async -> Bool {
        await ask(target.identifier)
        guard target.isUntouched, !options.isSequential else { return false }
        return await waitForOther(than: target, until: end)
    }

    /// Waits until another content than the target's is applied here.
    /// - Returns: False if the file is gone, the waiting task is cancelled, or it is not applied in time.
    func waitForOther(than target: FetchTarget, until end: Double) async -> Bool {
        while let isOther = replica.hasOtherContent(than: target), !Task.isCancelled {
            if isOther { return true }
            guard replica.now() < end else { return false }
            try? await Task.sleep(for: .milliseconds(5))  // Throws only when the reader is interrupted.
        }
        return false
    }

    /// Aligns the range to blocks, so that small reads also fetch what is probably read next.
    private func widened(_ range: Range<Int64>, of target: FetchTarget) -> Range<Int64> {
        guard store.properties.fetchesRanges else { return 0..<target.size }
        let start = range.lowerBound & ~(Self.block - 1)
        let end = range.upperBound.roundedUp(toMultipleOf: Self.block)
        return start..<min(end, target.size)
    }

    /// What is fetched at least, in bytes.
    static let block: Int64 = 128 * 1024

    /// - Parameter end: How long to wait for newer content, in seconds since 1970.
    private func fetch(_ range: Range<Int64>, _ target: FetchTarget, until end: Double) async throws(Errno) {
        statistics.withLock { $0.beginFetch(target.identifier, size: Int64(range.count)) }
        defer {
            statistics.withLock { $0.endFetch(target.identifier, now: replica.now()) }
            endFetch(range, target.number)
        }
        let sink: PlaceholderSink
        do throws(ReplicaError) {
            sink = PlaceholderSink(engine: self, target: target, descriptor: try replica.openForFetch(target))
        } catch {
            // Another reader completed the file, or it was replaced: the caller determines again what is missing.
            if replica.hasOtherContent(than: target) == true { return }
            throw error.errno
        }
        defer { close(sink.descriptor) }
        do throws(RemoteStoreError) {
            let version = target.version.isEmpty ? nil : target.version
            let answer = try await store.fetchContents(
                of: target.identifier, version: version, range: range, into: sink)
            if version != nil, answer.size != target.sizeInStore {
                throw .malformedAnswer("the content's size differs from the item's")
            }
        } catch {
            if case .malformedAnswer = error {
                replica.dropFetched(sink.ranges, of: target, descriptor: sink.descriptor)
                noteFailedFetch(of: target.number, target.identifier, error)
            } else if sink.failure == nil {
                noteFailedFetch(of: target.number, target.identifier, error)
            }
            // On a full disk the space is freed again: the bytes are then read without being kept.
            if sink.failure?.isFullDisk == true {
                replica.dropFetched(sink.ranges, of: target, descriptor: sink.descriptor)
            }
            replica.pauseFetch(target, descriptor: sink.descriptor)
            // The file was truncated or replaced: the caller determines again what is missing.
            if sink.failure == .resourceTemporarilyUnavailable || sink.failure == .stale { return }
            if let errno = sink.failure { throw errno }
            switch error {
            case .noSuchItem, .versionNoLongerAvailable:
                if await awaitOther(than: target, until: end) { return }
                // Whether the name is gone as well is found out by the next open.
                if !target.isUntouched { throw Errno.stale }
            default: break
            }
            throw error.errno
        }
        endFailedFetch(of: target.number)
        if sink.isComplete { return try await complete(target) }
        replica.pauseFetch(target, descriptor: sink.descriptor)
        guard sink.received >= Int64(range.count) else {
            // The content is shorter than the placeholder, so what is known about the item is outdated.
            await ask(target.identifier)
            throw .ioError
        }
    }

    /// Records at a file or folder why it could not be fetched, if the error is about the item: its readers only get an errno.
    func noteFailedFetch(of number: ItemNumber, _ identifier: ItemIdentifier, _ error: RemoteStoreError) {
        switch error {
        case .malformedAnswer, .itemUnavailable, .unanswered, .cannotSynchronize, .unsupported: break
        default: return
        }
        guard number != .root else { return }
        guard fetches.withLock({ $0.failed.note(number, error.message) }) else { return }
        // For a pending item, the error of its upload is shown instead.
        if replica.withTree({ $0.pending[number] == nil }) {
            replica.noteFailure(of: identifier, error, retryAt: replica.now())
        }
        log.warning("an item cannot be fetched", metadata: ["item": "\(number)", "error": "\(error.message)"])
        replica.post(.error, number, detail: error.message)
    }

    /// An item was fetched.
    func endFailedFetch(of number: ItemNumber) {
        let hadFailed = fetches.withLock { $0.failed.end(number) }
        // The failure may have been recorded by the last run.
        if hadFailed || replica.withTree({ $0.items[number]?.failure != nil }) { replica.forgetFailures([number]) }
    }

    /// Why items that are still not local could not be fetched.
    func reasonOfFailedFetches() -> String? {
        let numbers = fetches.withLock { $0.failed.numbers }
        let needless = replica.withTree { tree in
            numbers.filter { number in
                tree.items[number].map { $0.isDeleted || $0.kind == .file && $0.materialization == .whole } ?? true
            }
        }
        return fetches.withLock { fetches in
            for number in needless { _ = fetches.failed.end(number) }
            return fetches.failed.reason
        }
    }

    private func complete(_ target: FetchTarget) async throws(Errno) {
        do throws(ReplicaError) {
            let descriptor = try replica.openForFetch(target)
            defer { close(descriptor) }
            try replica.completeFetch(target, descriptor: descriptor)
            replica.post(.downloaded, target.number)
        } catch {
            // Another reader may have completed it already.
            if error.errno != .stale { throw error.errno }
        }
    }

    private func endFetch(_ range: Range<Int64>, _ number: ItemNumber) {
        // Each waiter checks whether its bytes are local, and fetches them itself if not.
        for waiter in fetches.withLock({ $0.end(range, of: number) }) { waiter.resume(returning: nil) }
    }

    private func waitForFetch(of target: FetchTarget, _ range: Range<Int64>) async throws(Errno) {
        let key = fetches.withLock { $0.newKey() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRunning = fetches.withLock { table in
                    !Task.isCancelled && table.wait(key, continuation, of: target.number, for: range)
                }
                if !isRunning { continuation.resume(returning: nil) }
            }
        } onCancel: {
            fetches.withLock { $0.leave(key, of: target.number) }?.resume(returning: .interrupted)
        }
        if let outcome { throw outcome }
    }

    /// Wakes the readers whose bytes have arrived while the fetch continues.
    func arrived(_ range: Range<Int64>, of target: FetchTarget) {
        statistics.withLock { $0.fetched(Int64(range.count), of: target.identifier, now: replica.now()) }
        for waiter in fetches.withLock({ $0.takeServed(range, of: target.number) }) { waiter.resume(returning: nil) }
    }
}
