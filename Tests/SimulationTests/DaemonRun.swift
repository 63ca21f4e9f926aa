import Glibc
import Logging
import ReplicaTestSupport
import SystemPackage
import Threads

@testable import ReplicaModel

/// One run of the daemon: it ends cleanly, or is abandoned at any point.
final class DaemonRun: Sendable {
    let replica: Replica
    let engine: SyncEngine
    let store: SimulatedStore
    /// The user's commands.
    let domain: Domain

    init(_ folders: StateFolders, _ world: World) throws {
        let (clock, clockSet) = (world.clock, world.clockSet)
        let wakeSignal = WakeSignal()
        var options = DomainOptions()
        options.settleSeconds = 1
        options.isSequential = true
        if world.profile == .guarded { options.mostDeletions = World.mostDeletions }
        store = SimulatedStore(try world.store.connect(), world)
        replica = try Replica.open(
            folders,
            clock: RunClock(
                wall: { clock.withLock { $0 } + clockSet.withLock { $0 } }, counted: { clock.withLock { $0 } }),
            wake: { wakeSignal.signal() })
        engine = SyncEngine(
            replica: replica, store: store, options: options, wakeSignal: wakeSignal,
            log: Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }, random: { 0.5 })
        domain = Domain(replica: replica, engine: engine, store: store, wakeSignal: wakeSignal, lock: -1)
        engine.restore()
        // Programs may look at once, while the whole is still compared.
        let early = world.looksEarly ? replica.seen().map(\.path) : []
        let proves = replica.withTree { $0.scan?.mode == .afterCrash }
        try replica.scan()
        guard proves, !early.isEmpty else { return }
        let later = Set(replica.seen().map(\.path))
        for path in early where !later.contains(path) { world.rules.violate("was just there: \(path)") }
    }
}
