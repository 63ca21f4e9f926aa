import ReplicaTestSupport
import Threads

@testable import ReplicaModel

/// The user's decisions about the store's deletions, and the guard's promise.
extension World {
    func person(_ step: Step) async throws {
        switch step {
        case .approve: approve()
        case .giveAgain: try giveAgain()
        case .pin(let item): try setPin(true, item)
        case .unpin(let item): try setPin(false, item)
        case .keep:
            say("  keep")
            try await live { daemon in _ = await daemon.engine.fetchPinned() }
        default: break
        }
    }

    private func setPin(_ isPinned: Bool, _ item: Int) throws {
        guard let item = pick(item, daemon) else { return }
        guard let own = daemon.replica.withTree({ $0.items[inode: item.number]?.number }) else { return }
        try daemon.replica.setPin(isPinned, of: own)
        say("  \(isPinned ? "pin" : "unpin") \(item.path)")
    }

    private func approve() {
        guard let count = daemon.domain.approve() else { return }
        hasApproved = true
        say("  approve \(count)")
    }

    private func giveAgain() throws {
        guard let done = try daemon.domain.restore() else { return }
        say("  restore \(done.items), \(done.left) are left")
    }

    /// In the end the user decides.
    func decide(_ round: Int) throws {
        if isSaving, round % 2 == 0 { return try giveAgain() }
        approve()
    }

    /// Lets the time pass after which what was set aside goes.
    func closeWindow() async throws {
        for _ in 0..<4 where daemon.engine.state.withLock({ $0.deletions.window != nil }) {
            pass(4000)
            try await live { daemon in
                daemon.engine.askNow()
                await daemon.engine.receive()
            }
        }
        let left = try Disk.entries(folders.deleted)
        guard left.isEmpty else { throw Violation(description: "set aside for good: \(left.keys.sorted())") }
    }

    /// The store's items that are here, and how many the domain has.
    struct KnownHere {
        var daemon: DaemonRun
        var identifiers: Set<ItemIdentifier>
        var count: Int
    }

    func knownHere() -> KnownHere? {
        guard profile == .guarded, !hasApproved, script.withLock({ $0.alarms.isEmpty }) else { return nil }
        return known()
    }

    private func known() -> KnownHere? {
        let numbers = seen(daemon).map(\.number)
        let identifiers = daemon.replica.withTree { tree in
            numbers.compactMap { tree.items[inode: $0]?.base?.identifier }
        }
        guard let counts = try? daemon.replica.countDeletions(firstLater: nil).counts else { return nil }
        return KnownHere(daemon: daemon, identifiers: Set(identifiers), count: counts.items)
    }

    /// Whether one look at the store took more than half, and more than a few, without a person's word.
    func checkGuard(_ before: KnownHere?) {
        guard let before, before.daemon === daemon, let after = known() else { return }
        let gone = before.identifiers.subtracting(after.identifiers).filter { !store.holds($0) }
        if gone.count > Self.mostDeletions, gone.count > before.count / 2 {
            rules.violate("the guard let \(gone.count) of \(before.count) go")
        }
    }
}
