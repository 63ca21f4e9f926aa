import PathStore
import ReplicaModel
import ReplicaTestSupport
import Threads

/// What happens at the calls of a storage of paths, and what its strength lets be lost.
extension World {
    /// Has what the script says happen at the storage's calls, and in the window between a look and an act.
    func listenToPaths() {
        guard let paths else { return }
        paths.before = { [unowned self] (call) async throws(PathStorageError) in
            // Another client is quicker than an act in its window.
            let hasWindow = call.method.isChange && call.method != .set
            if await self.isOver(at: .before, "\(call.method) \(call.path)", hasWindow: hasWindow) { throw .cancelled }
            try self.failCall(call, .before)
        }
        paths.after = { [unowned self] (call) async throws(PathStorageError) in
            (self.store as? PathRemote)?.remember()
            self.say("      \(call.method) \(call.path)\(call.target.map { " to \($0)" } ?? "")")
            if await self.isOver(at: .after, "\(call.method) \(call.path)") { throw .cancelled }
            try self.failCall(call, .after)
        }
        paths.race = { [unowned self] call in
            let events = self.script.withLock { script in
                script.events(at: .before) { event in
                    if case .remote = event { true } else { false }
                }
            }
            for case .remote(let step) in events {
                self.say("    in the window of \(call.method) \(call.path)")
                self.perform(step)
            }
        }
    }

    /// Fails a call of the storage that serves a call of the store that is to fail.
    private func failCall(_ call: PathStorageCall, _ moment: FaultyStore.Moment) throws(PathStorageError) {
        let served: Set<StoreCall.Method> =
            switch call.method {
            case .entry: [.item, .itemCreated, .currentAnchor]
            case .list: [.enumerateItems, .enumerateChanges]
            case .read: [.fetchContents]
            case .write, .make: [.createItem, .modifyItem]
            case .set, .move: [.modifyItem]
            case .remove: [.deleteItem]
            case .makeDurable: []
            }
        guard let error = script.withLock({ $0.fault(of: served, at: moment, isOfStorage: true) }) else { return }
        say("      \(error.code) \(moment) \(call.method) \(call.path)")
        throw error == .cancelled ? .cancelled : .unreachable("the line is cut")
    }

    /// Has what is due at a call happen.
    /// - Parameter hasWindow: Whether the deeds of another client come later, in the call's window.
    /// - Returns: Whether the daemon is dead.
    func isOver(at moment: FaultyStore.Moment, _ call: String, hasWindow: Bool = false) async -> Bool {
        let events = script.withLock { script in
            script.events(at: moment) { event in
                if case .remote = event { !hasWindow } else { true }
            }
        }
        for event in events {
            switch event {
            case .local(let step): race(step)
            case .remote(let step): perform(step)
            case .death:
                say("    the daemon dies \(moment) \(call)")
                daemon.store.die()
                await freeze()
                return true
            }
        }
        return false
    }

    /// What acts destroyed within their windows: nothing where conditions are atomic, else what another client wrote there,
    /// and never ours.
    func settleCasualties() {
        guard let paths else { return }
        for casualty in paths.casualties {
            guard let place = rules.owed[casualty.content] else { continue }
            let isAtomic = paths.properties.replaceStrength == .atomic
            if isAtomic || !place.hasPrefix("store:") {
                rules.violate("overwritten: \(Describe.content(casualty.content)), written to \(place)")
            }
            rules.settle(Loss(contents: [casualty.content]))
        }
    }
}
