internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Applies all noted changes in passes: a name that one change frees can be taken by the next.
    func applyIncoming() async {
        await listAgain()
        await requestRejectedItems()
        var isForced = false
        for _ in 0..<Self.mostPasses {
            let mode = judgeDeletions()
            // An item in the way may itself be about to be deleted.
            let pass = await applyAll(isForced: isForced && !mode.isWithheld, mode)
            // Answers to questions of a pass are noted after it. If the database can't be read there is nothing to apply.
            let isMore = pass.applied > 0 && ((try? replica.newestIncoming()) ?? 0) > 0
            guard pass.deferred > 0 || isMore else {
                let asked = state.withLock { $0.pulls.lastAsked }
                if pass.withheld == 0 { replica.withTree { $0.store.answers.forget(upTo: asked) } }
                break
            }
            if pass.applied > 0 {
                isForced = false
            } else if isForced {
                break
            } else {
                isForced = true
            }
        }
        discardUnwanted()
        if replica.withTree({ $0.store.takeReversalNews() }) {
            log.warning("contents of the store went back to earlier dates: newer ones are kept, see 'replica status'")
        }
        // An approval ends with the deletions that it was given for.
        if state.withLock({ $0.deletions.window?.decision == .approved }) { _ = judgeDeletions() }
    }

    /// How many passes are made before other work gets a turn.
    private static let mostPasses = 32

    /// How many changes are applied before they are recorded.
    private static let atOnce = 256

    /// Asks the store again about items whose reports were invalid.
    private func requestRejectedItems() async {
        let now = replica.now()
        let due = state.withLock { state in state.rejected.invalid.keys.filter { state.postponed.isDue($0, at: now) } }
        for identifier in due where !Task.isCancelled {
            if await ask(identifier) { state.withLock { $0.accept(identifier) } }
        }
    }

    private func applyAll(
        isForced: Bool, _ mode: DeletionMode
    ) async -> (applied: Int, deferred: Int, withheld: Int) {
        var (applied, deferred, withheld) = (0, 0, 0)
        var last: Int64 = 0
        do {
            // Changes noted meanwhile wait for the next pass.
            let newest = try replica.newestIncoming()
            while !Task.isCancelled, last < newest {
                let changes = try replica.incoming(after: last, limit: Self.atOnce).filter { $0.0 <= newest }
                guard let end = changes.last?.0 else { break }
                var done: [(Int64, ItemIdentifier)] = []
                for (sequence, change) in changes {
                    if change.item == nil, !change.isQuestion, !mode.allows(change.identifier, sequence) {
                        withheld += 1
                        continue
                    }
                    switch await apply(change, isForced: isForced, mode) {
                    case .applied: done.append((sequence, change.identifier))
                    case .asked: applied += 1
                    case .left: deferred += 1
                    }
                }
                try replica.noteApplied(done)
                applied += done.count
                last = end
            }
        } catch {
            log.error("the database cannot be used", metadata: ["error": "\(error)"])
        }
        if applied > 0 { wakeSignal.signal() }
        return (applied, deferred, withheld)
    }

    /// The outcome of a noted change.
    private enum Outcome {
        case applied
        /// The store answered with the item's present state, which replaces the noted change.
        case asked
        case left
    }

    private func askAgain(about identifier: ItemIdentifier) async -> Outcome {
        await ask(identifier) ? .asked : .left
    }

    private func apply(_ change: Incoming, isForced: Bool, _ mode: DeletionMode) async -> Outcome {
        let isDue = state.withLock { $0.postponed.isDue(change.identifier, at: replica.now()) }
        guard isDue else { return .left }
        if change.isQuestion { return await askAgain(about: change.identifier) }
        do throws(ReplicaError) {
            let outcome: Applied
            let rewrite = knownRewrite(change)
            let former = pathOfItem(in: change)
            if let item = change.item {
                outcome = try replica.apply(item, asked: change.asked, rewrite: rewrite, isForced: isForced)
            } else {
                outcome = try replica.applyDeletion(
                    of: change.identifier, asked: change.asked, setsAside: mode.setsAside(change.identifier),
                    keepsNewer: !mode.isApproved)
            }
            switch outcome {
            case .done:
                state.withLock { $0.postponed.remove(change.identifier) }
                tell(change, from: former)
                return .applied
            case .deferred: return .left
            case .stale: return await askAgain(about: change.identifier)
            case .refused(let name):
                let name = FileName(name).shortened
                state.withLock { _ = $0.rejected.refused.insert(name) }
                log.warning("a name in the store is not valid here", metadata: ["name": "\(name)"])
                return .applied
            case .needsContent:
                guard let item = change.item, await !applyContent(of: item, asked: change.asked, rewrite) else {
                    return .applied
                }
                return .left
            case .needsComparison(let number):
                guard let item = change.item else { return .applied }
                guard await compare(number, item) else { return .left }
                return await apply(change, isForced: isForced, mode)
            case .needsListing(let number):
                await listForChange(number)
                return .left
            case .needsFolder(let folder):
                if let error = try await listPath(to: folder) {
                    error.isOfOneItem ? postpone(change.identifier, error) : noteStoreFailure(error)
                }
                return .left
            case .needsAnswers(let folders):
                for folder in folders { _ = await ask(folder) }
                postpone(
                    change.identifier, .itemUnavailable("in the store it is inside a folder that it contains here"))
                return .left
            }
        } catch {
            postponeUnappliable(change.identifier, error)
            return .left
        }
    }

    /// Postpones a change that the local disk refuses, at once or after some attempts: other items go on.
    func postponeUnappliable(_ identifier: ItemIdentifier, _ error: ReplicaError) {
        if error.errno.isFullDisk { noteFullDisk() }
        let isLasting = !error.errno.isOfAll && state.withLock { $0.postponed.isLasting(identifier) }
        if error.errno.isOfItem || isLasting {
            postpone(identifier, .itemUnavailable(error.errno.hindrance))
        } else {
            log.warning(
                "a change cannot be applied", metadata: ["item": "\(identifier)", "errno": "\(error.errno)"])
        }
    }

    /// Postpones a change; other items go on.
    func postpone(_ identifier: ItemIdentifier, _ error: RemoteStoreError) {
        log.warning("a change is postponed", metadata: ["item": "\(identifier)", "error": "\(error.message)"])
        let jitter = random()
        let isKnown = replica.withTree { $0.items[identifier] != nil }
        let retryAt = state.withLock {
            $0.postponed.add(identifier, isKnown: isKnown, now: replica.now(), jitter: jitter)
        }
        replica.noteFailure(of: identifier, error, retryAt: retryAt)
        wakeSignal.signal()
    }

    /// - Parameter former: Where the item was before; nil if it is new, or nobody listens.
    private func tell(_ change: Incoming, from former: [FileName]?) {
        guard replica.events.isHeard, change.item != nil else { return }
        guard let path = pathOfItem(in: change) else {
            if let former { replica.post(.remoteMove, path: former, detail: "to a place that is not listed here") }
            return
        }
        if let former, former != path {
            replica.post(.remoteMove, from: former, to: path)
        } else {
            replica.post(.remoteChange, path: path)
        }
    }

    private func pathOfItem(in change: Incoming) -> [FileName]? {
        guard replica.events.isHeard else { return nil }
        return replica.withTree { $0.items[change.identifier]?.number }.flatMap(replica.lastPath(of:))
    }

    /// Lists the folders again in which the store may have more items than we know.
    private func listAgain() async {
        for (number, identifier) in replica.foldersToList() {
            guard state.withLock({ $0.postponed.isDue(identifier, at: replica.now()) }) else { continue }
            do throws(RemoteStoreError) {
                let asked = replica.answers
                let items = try await wholeListing(of: identifier)
                let changes = items.map {
                    Incoming(identifier: $0.identifier, item: $0, asked: asked, rewrite: unseenRewrite)
                }
                do throws(LocalStateFailure) { try replica.noteIncoming(changes, anchor: nil) } catch {
                    return noteTrouble(error)
                }
                replica.noteListed(number)
                state.withLock { $0.postponed.remove(identifier) }
            } catch {
                if error == .noSuchItem(identifier) { replica.noteListed(number) }
                if error.isOfOneItem {
                    postpone(identifier, error)
                    continue
                }
                return noteStoreFailure(error)
            }
        }
    }
}

extension Errno {
    /// Why a change of the store was not applied.
    fileprivate var hindrance: String {
        let hint =
            switch self {
            case .notPermitted: "; what is immutable or append-only stays as it is, see lsattr(1)"
            case .fileExists: "; another file has its name in the backing tree"
            default: ""
            }
        return "the store's change cannot be made here: \(self)\(hint)"
    }
}
