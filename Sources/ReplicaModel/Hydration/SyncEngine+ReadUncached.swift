internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Provides content for a program that reads.
    /// - Parameters:
    ///   - wanted: The range to be read.
    ///   - ahead: The range to fetch, if the content is kept on the disk.
    /// - Returns: The bytes of `wanted` up to the end of the file if the content can't be kept on the disk; nil if it
    ///   is local now.
    /// - Throws: The errors of ``hydrate(_:range:)`` except ENOSPC.
    func read(
        _ number: ItemNumber, _ wanted: Range<Int64>, ahead: Range<Int64>
    ) async throws(Errno) -> UncachedBytes? {
        if try isKept(number) {
            do throws(Errno) {
                try await hydrate(number, range: ahead)
                return nil
            } catch {
                guard error.isFullDisk else { throw error }
            }
        }
        return try await pass(number, wanted)
    }

    private func isKept(_ number: ItemNumber) throws(Errno) -> Bool {
        let target: FetchTarget?
        do throws(ReplicaError) { target = try replica.fetchTarget(number, range: nil) } catch { throw error.errno }
        guard let target else { return true }
        let missing = target.missing.reduce(0) { $0 + Int64($1.count) }
        let (folders, now, cacheLimit) = (replica.folders, replica.now(), limits.withLock { $0.most })
        return try freeSpace.withLock { (space) throws(Errno) in
            try space.isKept(size: target.size, missing: missing, cacheLimit: cacheLimit, now: now) {
                () throws(Errno) in try folders.freeBytes()
            }
        }
    }

    /// Reads through memory, without keeping the bytes on the disk.
    private func pass(_ number: ItemNumber, _ wanted: Range<Int64>) async throws(Errno) -> UncachedBytes? {
        let end = replica.now() + Self.replacementSeconds
        while true {
            let target: FetchTarget?
            do throws(ReplicaError) { target = try replica.fetchTarget(number, range: wanted) } catch {
                throw error.errno
            }
            guard let target else { return nil }
            let range = wanted.clamped(to: 0..<target.size)
            let now = replica.now()
            let bytes = uncached.withLock { $0.bytes(range, of: target.number, version: target.version, now: now) }
            if let bytes { return UncachedBytes(bytes: bytes, version: target.version) }
            try checkConnected()
            if Task.isCancelled { throw .interrupted }
            if try await waitForAnnounced(target, until: end) { continue }
            guard let failure = await window(at: range, of: target).value else { continue }
            switch failure.error {
            case .noSuchItem, .versionNoLongerAvailable:
                if await awaitOther(than: failure.target, until: end) { return nil }
            default: break
            }
            throw failure.error.errno
        }
    }

    /// The window that is being fetched for the file, or else a new one that begins with `range`.
    private func window(at range: Range<Int64>, of target: FetchTarget) -> Task<UncachedReadFailure?, Never> {
        uncached.withLock { windows in
            if let running = windows.running[target.number] { return running }
            let task = background.start {
                let failure = await self.fetchWindow(at: range, of: target)
                self.uncached.withLock { $0.running[target.number] = nil }
                return failure
            }
            windows.running[target.number] = task
            return task
        }
    }

    private func fetchWindow(at range: Range<Int64>, of target: FetchTarget) async -> UncachedReadFailure? {
        let end = max(range.upperBound, range.lowerBound + min(UncachedWindows.size, target.size - range.lowerBound))
        let whole = range.lowerBound..<end
        statistics.withLock { $0.beginFetch(target.identifier, size: Int64(whole.count)) }
        defer { statistics.withLock { $0.endFetch(target.identifier, now: replica.now()) } }
        let sink = WindowSink(whole) { count in
            self.statistics.withLock { $0.fetched(count, of: target.identifier, now: self.replica.now()) }
        }
        do throws(RemoteStoreError) {
            let version = target.version.isEmpty ? nil : target.version
            let asked = store.properties.fetchesRanges ? whole : nil
            let answer = try await store.fetchContents(
                of: target.identifier, version: version, range: asked, into: sink)
            guard let bytes = sink.bytes, version == nil || answer.size == target.sizeInStore else {
                throw .malformedAnswer("the content's size differs from the item's")
            }
            let window = UncachedWindows.Window(
                number: target.number, version: target.version, start: whole.lowerBound, bytes: bytes,
                usedAt: replica.now())
            uncached.withLock { $0.take(window) }
            endFailedFetch(of: target.number)
            return nil
        } catch {
            noteFailedFetch(of: target.number, target.identifier, error)
            return UncachedReadFailure(error: error, target: target)
        }
    }
}
