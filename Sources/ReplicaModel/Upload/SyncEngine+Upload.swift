internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Makes one call of the store and records the result.
    /// - Parameter sender: The task that makes it; nil if it may take for ever.
    func upload(_ call: OutgoingCall, by sender: Sender? = nil) async {
        var (isTakenIn, isRefused) = (false, false)
        defer {
            if sender?.isAbandoned != true { statistics.withLock { $0.endCall(call.number, isTakenIn: isTakenIn) } }
        }
        // An error describes an earlier state of the item: another call about it may be answered before the error is
        // recorded.
        let asked = replica.answers
        do throws(RemoteStoreError) {
            let contents = try await snapshot(call)
            defer {
                // A store that gave up a call may have left it to another process.
                let isStillRead = sender?.isGivenUp == true
                contents.map { snapshots.release($0.file.rawValue, size: $0.size, isStillRead: isStillRead) }
            }
            if call.source != nil, contents == nil { return replica.abandon(call) }
            guard let answer = try await answer(to: call, contents, sender, asked: asked) else { return }
            noteAnswer(call)
            let place = replica.lastPath(of: call.number)
            switch answer {
            case .result(let result):
                isRefused = result.item == nil
                try take(try recorded { () throws(ReplicaError) in try replica.finish(call, result) })
            case .item(let item):
                try take(try recorded { () throws(ReplicaError) in try replica.finishResolving(call, item) })
            case .deleted: replica.finishDeletion(call)
            }
            isTakenIn = true
            if case .deleted = answer {
                replica.post(.uploadedDeletion, path: place)
            } else {
                replica.post(.uploaded, path: replica.lastPath(of: call.number) ?? place)
            }
            if isRefused { replica.preserveRefused(call.number) }
            if call.isRepeated { state.withLock { $0.earlyRetry.help() } }
            clearStoreFailure()
        } catch {
            guard sender?.isGivenUp == true else { return await failed(call, error, asked) }
            // This task is cancelled; the question what became of the item must not be.
            await Task { await failed(call, error, asked) }.value
        }
    }

    /// Called before the replica records the answer: items that are no longer pending count as sent.
    private func noteAnswer(_ call: OutgoingCall) {
        let bytes = call.source == nil ? 0 : call.fingerprint.size
        statistics.withLock { $0.answer(call.number, bytes: bytes, now: replica.now()) }
    }

    /// Applies the store's own state of an item if it differs from the sent one.
    private func take(_ change: Incoming?) throws(RemoteStoreError) {
        guard let change else { return }
        do throws(LocalStateFailure) { try replica.noteIncoming([change], anchor: nil) } catch {
            throw .cannotSynchronize(error.message)
        }
        wakeSignal.signal()
    }

    /// Treats a local error while recording an answer as a transient failure on this side.
    private func recorded<Value>(_ body: () throws(ReplicaError) -> Value) throws(RemoteStoreError) -> Value {
        do throws(ReplicaError) {
            return try body()
        } catch {
            throw .cannotSynchronize("the tree cannot be changed: \(error.errno)")
        }
    }

    /// - Parameter asked: ``Incoming/asked`` for the state in the error.
    func failed(_ call: OutgoingCall, _ error: RemoteStoreError, _ asked: UInt64) async {
        log.info("not sent", metadata: ["item": "\(call.number)", "error": "\(error.code)"])
        do throws(ReplicaError) {
            let jitter = random()
            let outcome = try replica.fail(call, error) { Backoff.delay(attempts: $0, jitter: jitter) }
            // A collision or conflict is resolved already; only its result has to be reported.
            if replica.hasFailed(call.number) { replica.post(.error, call.number, detail: error.message) }
            switch outcome {
            case .nothing: break
            case .holdBack: noteStoreFailure(error)
            case .apply(let item): note(item.identifier, item, asked: asked)
            case .deleted(let identifier):
                guard !suspect(identifier) else { break }
                uploadQueue.withLock { $0.wait(call.number, until: replica.now() + Self.suspicion) }
            case .ask(let identifier): await ask(identifier)
            }
        } catch {
            log.warning("an item cannot be changed", metadata: ["item": "\(call.number)", "errno": "\(error.errno)"])
        }
    }

    func note(_ identifier: ItemIdentifier, _ item: Item?, asked: UInt64) {
        do throws(LocalStateFailure) {
            let change = Incoming(identifier: identifier, item: item, asked: asked, rewrite: unseenRewrite)
            try replica.noteIncoming([change], anchor: nil)
        } catch {
            noteTrouble(error)
        }
        wakeSignal.signal()
    }

    /// Handles a call that did not find its item: the file may have been replaced under its name. If the next pull
    /// doesn't report that, the item is gone.
    /// - Returns: Whether it is certain now that the item is gone.
    private func suspect(_ identifier: ItemIdentifier) -> Bool {
        let isGone = state.withLock { $0.pulls.suspect(identifier) }
        if isGone { note(identifier, nil, asked: replica.answers) } else { wakeSignal.signal() }
        return isGone
    }

    /// Seconds until a call whose item was not found is retried.
    private static let suspicion = 0.2

    /// Requests an item's present state from the store, and records the answer.
    /// - Returns: False if the store did not answer.
    @discardableResult
    func ask(_ identifier: ItemIdentifier) async -> Bool {
        let asked = replica.answers
        do throws(RemoteStoreError) {
            note(identifier, try await store.item(identifier), asked: asked)
            state.withLock { $0.accept(identifier) }
        } catch {
            if error.isOfOneItem {
                postpone(identifier, error)
                return false
            }
            guard case .noSuchItem(identifier) = error else {
                noteStoreFailure(error)
                state.withLock { $0.pulls.isWanted = true }
                return false
            }
            return suspect(identifier)
        }
        return true
    }
}
