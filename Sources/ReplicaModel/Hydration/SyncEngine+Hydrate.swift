internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

/// The fetches under way, and who waits for which bytes.
struct FetchTable {
    struct Waiter {
        var range: Range<Int64>
        var continuation: CheckedContinuation<Errno?, Never>
    }
    var running: [ItemNumber: [Range<Int64>]] = [:]
    var waiters: [ItemNumber: [UInt64: Waiter]] = [:]
    var nextWaiter: UInt64 = 0
}

extension SyncEngine {
    /// Brings bytes of a file. Readers of bytes that are on their way wait for those.
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
                return try await complete(target)  // All is here already, only the mark is to go.
            }
            if try await waitForRewrite(of: target, until: end) { continue }
            let wanted = widened(first, of: target)
            let isShared = fetches.withLock { uploadQueue in
                if uploadQueue.running[target.number, default: []].contains(where: { $0.overlaps(first) }) {
                    return true
                }
                uploadQueue.running[target.number, default: []].append(wanted)
                return false
            }
            if isShared {
                try await waitForFetch(of: target, first)
            } else {
                try await fetch(wanted, target, until: end)
            }
        }
    }

    /// Makes sure that the bytes to be fetched go with those that are here, where versions do not tell.
    /// - Returns: Whether something happened to the item, which is applied now.
    /// - Throws: ESTALE when it is not applied in time.
    private func waitForRewrite(of target: FetchTarget, until end: Double) async throws(Errno) -> Bool {
        guard !store.properties.tellsEveryContent, !target.isUntouched, !options.isSequential else { return false }
        let item: Item
        let asked = replica.answers
        do throws(RemoteStoreError) { item = try await store.item(target.identifier) } catch {
            return false  // The fetch meets the same, and says so.
        }
        guard item.version.content == target.version, item.version.metadata != target.metadataVersion else {
            return false
        }
        note(target.identifier, item, asked: asked)
        while replica.isAsKnown(by: target) {
            if Task.isCancelled { throw .interrupted }
            guard replica.now() < end else { throw Errno(rawValue: ESTALE) }
            try? await Task.sleep(for: .milliseconds(5))  // Cancelled when the reader is interrupted.
        }
        return true
    }

    /// Waits until a file that was in doubt after a power cut is compared with what the store has.
    private func endDoubt(of number: ItemNumber) async throws(Errno) {
        let end = replica.now() + Self.longestDoubt
        while let doubt = replica.doubt(of: number) {
            if Task.isCancelled { throw .interrupted }
            let isAway = state.withLock { !($0.storeFailure?.isOfChanges ?? true) || $0.disconnected != nil }
            if isAway || replica.now() > end {
                // What was made just before the power was cut may be nowhere else.
                guard doubt.mayBeInStore else { return replica.trust(number) }
                try checkConnected()
                throw .noRouteToHost
            }
            if let identifier = doubt.identifier, !replica.isScanning { await ask(identifier) }
            if options.isSequential {
                await receive()
                guard replica.doubt(of: number) == nil else { throw .noRouteToHost }
            }
            try? await Task.sleep(for: .milliseconds(20))  // Cancelled when the reader is interrupted.
        }
    }

    /// Seconds that a program waits for that.
    private static let longestDoubt = 60.0

    /// Seconds that a first read waits for what the store has instead of what was asked for.
    static let replacementSeconds = 10.0

    /// Waits for what the store has instead of a content that it no longer has. Nobody has seen anything of a file of
    /// which nothing was here: its reader gets the newer content (MODEL.md#content, strictVersioning).
    /// - Returns: False when the file is gone, was seen, or what it is now is not known in time.
    func awaitOther(than target: FetchTarget, until end: Double) async -> Bool {
        await ask(target.identifier)
        guard target.isUntouched, !options.isSequential else { return false }
        while let isOther = replica.hasOtherContent(than: target), !Task.isCancelled {
            if isOther { return true }
            guard replica.now() < end else { return false }
            try? await Task.sleep(for: .milliseconds(5))  // Cancelled when the reader is interrupted.
        }
        return false
    }

    /// Fetches begin and end at blocks, and small ones bring what is likely to be read next.
    private func widened(_ range: Range<Int64>, of target: FetchTarget) -> Range<Int64> {
        guard store.properties.fetchesRanges else { return 0..<target.size }
        let start = range.lowerBound & ~(Self.block - 1)
        let end = range.upperBound.roundedUp(toMultipleOf: Self.block)
        return start..<min(end, target.size)
    }

    private static let block: Int64 = 128 * 1024

    /// - Parameter end: Until when a newer content is waited for, in seconds since 1970.
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
            // Another reader brought the rest, or it was replaced: what is missing now is determined again.
            if replica.hasOtherContent(than: target) == true { return }
            throw error.errno
        }
        defer { close(sink.descriptor) }
        do throws(RemoteStoreError) {
            let version = target.version.isEmpty ? nil : target.version
            let answer = try await withWatchdog(sink) { () async throws(RemoteStoreError) in
                try await self.store.fetchContents(
                    of: target.identifier, version: version, range: range, into: sink)
            }
            if version != nil, answer.size != target.sizeInStore {
                throw .malformedAnswer("the content has another size than the item")
            }
        } catch {
            if case .malformedAnswer = error {
                replica.dropFetched(sink.ranges, of: target, descriptor: sink.descriptor)
                noteFailedFetch(of: target, error)
            }
            // A full disk gets back what was just put there: it is read without being kept.
            if sink.failure == .noSpace { replica.dropFetched(sink.ranges, of: target, descriptor: sink.descriptor) }
            replica.pauseFetch(target, descriptor: sink.descriptor)
            // Cut or replaced meanwhile: other bytes are needed now, or none.
            if sink.failure == .resourceTemporarilyUnavailable || sink.failure?.rawValue == ESTALE { return }
            if let errno = sink.failure { throw errno }
            switch error {
            case .noSuchItem, .versionNoLongerAvailable:
                if await awaitOther(than: target, until: end) { return }
                // Whether its name is gone too is for who opens it again.
                if !target.isUntouched { throw Errno(rawValue: ESTALE) }
            default: break
            }
            throw error.errno
        }
        if sink.isComplete { return try await complete(target) }
        replica.pauseFetch(target, descriptor: sink.descriptor)
        guard sink.received >= Int64(range.count) else {
            // The content is shorter than the placeholder says: its item is not as it was known.
            await ask(target.identifier)
            throw .ioError
        }
    }

    /// Shows at the item why its content did not come.
    func noteFailedFetch(of target: FetchTarget, _ error: RemoteStoreError) {
        log.warning("an answer cannot be used", metadata: ["item": "\(target.number)", "error": "\(error.message)"])
        replica.noteFailure(of: target.identifier, error, retryAt: replica.now())
        replica.post(.error, target.number, detail: error.message)
    }

    private func complete(_ target: FetchTarget) async throws(Errno) {
        do throws(ReplicaError) {
            let descriptor = try replica.openForFetch(target)
            defer { close(descriptor) }
            try replica.completeFetch(target, descriptor: descriptor)
            replica.post(.downloaded, target.number)
        } catch {
            // Whoever else completed it did the same.
            if error.errno != Errno(rawValue: ESTALE) { throw error.errno }
        }
    }

    private func endFetch(_ range: Range<Int64>, _ number: ItemNumber) {
        let waiters = fetches.withLock { uploadQueue in
            uploadQueue.running[number]?.removeAll { $0 == range }
            if uploadQueue.running[number]?.isEmpty == true { uploadQueue.running[number] = nil }
            return uploadQueue.waiters.removeValue(forKey: number) ?? [:]
        }
        // Each looks again whether its bytes are here; if not, it fetches them itself.
        for waiter in waiters.values { waiter.continuation.resume(returning: nil) }
    }

    private func waitForFetch(of target: FetchTarget, _ range: Range<Int64>) async throws(Errno) {
        let key = fetches.withLock { uploadQueue in
            uploadQueue.nextWaiter += 1
            return uploadQueue.nextWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRunning = fetches.withLock { uploadQueue in
                    guard uploadQueue.running[target.number] != nil, !Task.isCancelled else { return false }
                    uploadQueue.waiters[target.number, default: [:]][key] = FetchTable.Waiter(
                        range: range, continuation: continuation)
                    return true
                }
                if !isRunning { continuation.resume(returning: nil) }
            }
        } onCancel: {
            let waiter = fetches.withLock { $0.waiters[target.number]?.removeValue(forKey: key) }
            waiter?.continuation.resume(returning: .interrupted)
        }
        if let outcome { throw outcome }
    }

    /// Wakes those whose bytes have come while their fetch goes on.
    func arrived(_ range: Range<Int64>, of target: FetchTarget) {
        statistics.withLock { $0.fetched(Int64(range.count), of: target.identifier, now: replica.now()) }
        let served = fetches.withLock { uploadQueue -> [FetchTable.Waiter] in
            guard let waiters = uploadQueue.waiters[target.number] else { return [] }
            let ready = waiters.filter { $0.value.range.overlaps(range) || $0.value.range.isEmpty }
            for key in ready.keys { uploadQueue.waiters[target.number]?[key] = nil }
            return Array(ready.values)
        }
        for waiter in served { waiter.continuation.resume(returning: nil) }
    }
}
