internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Brings content for a program that reads.
    /// - Parameters:
    ///   - wanted: What is read.
    ///   - ahead: What to bring, as far as it is kept.
    /// - Returns: The bytes of `wanted`, as far as the file has them, where the content can't be kept; nil when it is here.
    /// - Throws: As ``hydrate(_:range:)``, but for ENOSPC.
    func read(
        _ number: ItemNumber, _ wanted: Range<Int64>, ahead: Range<Int64>
    ) async throws(Errno) -> PassingBytes? {
        if try isKept(number) {
            do throws(Errno) {
                try await hydrate(number, range: ahead)
                return nil
            } catch {
                guard error == .noSpace || error.rawValue == EDQUOT else { throw error }
            }
        }
        return try await pass(number, wanted)
    }

    private func isKept(_ number: ItemNumber) throws(Errno) -> Bool {
        let target: FetchTarget?
        do throws(ReplicaError) { target = try replica.fetchTarget(number, range: nil) } catch { throw error.errno }
        guard let target else { return true }
        let missing = target.missing.reduce(0) { $0 + Int64($1.count) }
        let (folders, now, cacheLimit) = (replica.folders, replica.now(), options.cacheLimit)
        return try freeSpace.withLock { (space) throws(Errno) in
            try space.isKept(size: target.size, missing: missing, cacheLimit: cacheLimit, now: now) {
                () throws(Errno) in try folders.freeBytes()
            }
        }
    }

    /// Has bytes come into memory and go again.
    private func pass(_ number: ItemNumber, _ wanted: Range<Int64>) async throws(Errno) -> PassingBytes? {
        let end = replica.now() + Self.replacementSeconds
        while true {
            let target: FetchTarget?
            do throws(ReplicaError) { target = try replica.fetchTarget(number, range: wanted) } catch {
                throw error.errno
            }
            guard let target else { return nil }
            let range = wanted.clamped(to: 0..<target.size)
            let now = replica.now()
            let bytes = passing.withLock { $0.bytes(range, of: target.number, version: target.version, now: now) }
            if let bytes { return PassingBytes(bytes: bytes, version: target.version) }
            try checkConnected()
            if Task.isCancelled { throw .interrupted }
            guard let failure = await window(at: range, of: target).value else { continue }
            switch failure.error {
            case .noSuchItem, .versionNoLongerAvailable:
                if await awaitOther(than: failure.target, until: end) { return nil }
            default: break
            }
            throw failure.error.errno
        }
    }

    /// The window that is on its way for a file, or a new one that begins with `range`.
    private func window(at range: Range<Int64>, of target: FetchTarget) -> Task<PassingFailure?, Never> {
        passing.withLock { passing in
            if let running = passing.running[target.number] { return running }
            let task = Task {
                let failure = await self.fetchWindow(at: range, of: target)
                self.passing.withLock { $0.running[target.number] = nil }
                return failure
            }
            passing.running[target.number] = task
            return task
        }
    }

    private func fetchWindow(at range: Range<Int64>, of target: FetchTarget) async -> PassingFailure? {
        let end = max(range.upperBound, range.lowerBound + min(PassingWindows.size, target.size - range.lowerBound))
        let whole = range.lowerBound..<end
        statistics.withLock { $0.beginFetch(target.identifier, size: Int64(whole.count)) }
        defer { statistics.withLock { $0.endFetch(target.identifier, now: replica.now()) } }
        let sink = WindowSink(whole) { count in
            self.statistics.withLock { $0.fetched(count, of: target.identifier, now: self.replica.now()) }
        }
        do throws(RemoteStoreError) {
            let version = target.version.isEmpty ? nil : target.version
            let asked = store.properties.fetchesRanges ? whole : nil
            let answer = try await withWatchdog(sink) { () async throws(RemoteStoreError) in
                try await self.store.fetchContents(
                    of: target.identifier, version: version, range: asked, into: sink)
            }
            guard let bytes = sink.bytes, version == nil || answer.size == target.sizeInStore else {
                throw .malformedAnswer("the content has another size than the item")
            }
            let window = PassingWindows.Window(
                number: target.number, version: target.version, start: whole.lowerBound, bytes: bytes,
                usedAt: replica.now())
            passing.withLock { $0.take(window) }
            return nil
        } catch {
            if case .malformedAnswer = error { noteFailedFetch(of: target, error) }
            return PassingFailure(error: error, target: target)
        }
    }
}
