import HTTPClient
import HTTPStorage
import PathStore
import Threads

/// The hints in a bucket: what this replica tells others of its changes, and hears of theirs (docs/decisions/s3-store.md). Without
/// them, or where they can't be written, changes are found by comparing folders, later.
final class Hints: Sendable {
    private struct State {
        /// The folders that have to be told.
        var folders: Set<StoragePath> = []
        /// The number of the last change that was told, or should have been.
        var number: UInt64 = 0
        /// Tells them, while there are any and for a while afterwards.
        var telling: Task<Void, Never>?
        /// Removes the object when it is old.
        var removing: Task<Void, Never>?
        var isEnded = false
        /// Until when nothing is told, because the server has refused that.
        var restsUntil: ContinuousClock.Instant?
        var hasComplained = false
        var lastCall = ContinuousClock.now
        /// The pause until the next look while the storage is not used.
        var nap: Task<Void, Never>?
    }

    private let object: HintObject
    private let timing: HintTiming
    private let complain: @Sendable (String) -> Void
    /// Identifies this process.
    let run = (0..<16).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined()
    private let state = Locked(State())

    /// - Parameter complain: Called once, with the reason why hints can't be written.
    init(_ object: HintObject, timing: HintTiming, complain: @escaping @Sendable (String) -> Void) {
        (self.object, self.timing, self.complain) = (object, timing, complain)
    }

    deinit { state.withLock { $0.removing }?.cancel() }

    // MARK: Telling

    /// Tells the others of a change in a folder, soon.
    func tell(_ folder: StoragePath) {
        state.withLock { state in
            guard !state.isEnded, state.restsUntil.map({ $0 < .now }) ?? true else { return }
            state.folders.insert(folder)
            if state.telling == nil { state.telling = Task { await tellAll() } }
        }
    }

    private func tellAll() async {
        var pause = timing.delay
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            guard let (folders, number) = takeFolders() else { return }
            // The end of the process does not cancel it: an object that is written after the removal would stay.
            await Task { await write(folders, from: number) }.value
            pause = timing.spacing
        }
    }

    private func takeFolders() -> ([StoragePath], from: UInt64)? {
        state.withLock { state in
            guard !state.folders.isEmpty, !state.isEnded else {
                state.telling = nil
                return nil
            }
            let folders = state.folders.sorted { $0.description < $1.description }
            state.folders = []
            defer { state.number += UInt64(folders.count) }
            return (folders, state.number + 1)
        }
    }

    /// Numbers that are not written show the others that they have missed something.
    private func write(_ folders: [StoragePath], from number: UInt64) async {
        removeLater()
        for attempt in 1...Self.attempts {
            do throws(S3Error) {
                let seen = try await object.look()
                var text = HintText()
                if let seen, let former = try await object.text(seen) { text = former }
                text.add(folders, run: run, from: number)
                // Ceph refuses every replacement under a condition in a bucket with versions.
                return try await object.write(text, over: seen, isConditional: attempt < Self.attempts)
            } catch {
                guard attempt < Self.attempts, case .complaint(let complaint) = error, !Self.isRefusal(complaint) else {
                    return note(error)
                }
                // Another replica has written in between: Ceph answers 412 or 500 to that. The task is not cancelled.
                try? await Task.sleep(for: .milliseconds(.random(in: 20...200)))
            }
        }
    }

    private static let attempts = 5

    private static func isRefusal(_ complaint: S3Complaint) -> Bool {
        [400, 401, 403, 405, 501].contains(complaint.status)
    }

    private func note(_ error: S3Error) {
        var reason = "the server can't be reached"
        if case .complaint(let complaint) = error { reason = complaint.words }
        let isFirst = state.withLock { state in
            if case .complaint(let complaint) = error, Self.isRefusal(complaint) {
                state.restsUntil = .now + timing.refusal
            }
            defer { state.hasComplained = true }
            return !state.hasComplained
        }
        if isFirst { complain("other replicas can't be told of changes, and see them later: \(reason)") }
    }

    private func removeLater() {
        let task = Task { [weak self, timing] in
            do { try await Task.sleep(for: timing.life) } catch { return }
            await self?.removeOwn()
        }
        state.withLock { state in
            state.removing?.cancel()
            state.removing = task
        }
    }

    /// Removes the object if this replica was the last one to write it.
    private func removeOwn() async {
        do throws(S3Error) {
            guard let seen = try await object.look(), let text = try await object.text(seen),
                text.changes.last?.run == run
            else { return }
            try await object.remove(seen)
        } catch {
            if !error.isPreconditionFailed { note(error) }
        }
    }

    /// Tells nothing any more, and leaves nothing in the bucket.
    func end() async {
        let telling = state.withLock { state in
            state.isEnded = true
            return state.telling
        }
        telling?.cancel()
        await telling?.value
        // Only now: what was on its way has set it.
        let removing = state.withLock { $0.removing }
        removing?.cancel()
        await removing?.value
        if removing != nil { await removeOwn() }
    }

    // MARK: Hearing

    /// The storage is used: others' changes are of interest.
    func noteCall() {
        let nap = state.withLock { state in
            defer { (state.lastCall, state.nap) = (.now, nil) }
            return state.nap
        }
        nap?.cancel()
    }

    /// The folders in which others have made changes; nil for anywhere. Ends when the task that reads it does.
    func heard() -> AsyncStream<StoragePath?> {
        AsyncStream { continuation in
            let task = Task { [weak self] in
                guard var hearing = self.map({ Hearing(known: HeardHints(own: $0.run)) }) else { return }
                while !Task.isCancelled, let nap = await self?.hear(&hearing, continuation) {
                    await withTaskCancellationHandler {
                        await nap.value
                    } onCancel: {
                        nap.cancel()
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private struct Hearing {
        var known: HeardHints
        /// The state of the object at the last look, and since when.
        var seen: HintObject.Seen?
        var since = ContinuousClock.now
    }

    /// - Returns: The pause until the next look.
    private func hear(
        _ hearing: inout Hearing, _ news: AsyncStream<StoragePath?>.Continuation
    ) async -> Task<Void, Never> {
        do throws(S3Error) {
            let seen = try await object.look()
            if let seen, seen != hearing.seen {
                if let text = try await object.text(seen) {
                    for folder in hearing.known.hear(text) { news.yield(folder) }
                }
                hearing.since = .now
            } else if let seen, .now - hearing.since > timing.abandonment {
                hearing.since = .now
                try await object.remove(seen)
            }
            hearing.seen = seen
        } catch {
            // What can't be read now is read at the next look.
        }
        if hearing.known.takesEverywhere(now: (.now - Self.start) / .seconds(1)) { news.yield(nil) }
        return nap()
    }

    private static let start = ContinuousClock.now

    private func nap() -> Task<Void, Never> {
        state.withLock { state in
            let isUsed = .now - state.lastCall < timing.use
            let pause = isUsed ? timing.interval : timing.idleInterval
            let nap = Task<Void, Never> {
                // Cancelled when the storage is used again.
                try? await Task.sleep(for: pause)
            }
            state.nap = isUsed ? nil : nap
            return nap
        }
    }
}
