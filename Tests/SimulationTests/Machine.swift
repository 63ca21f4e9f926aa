import Glibc
import Logging
import SystemPackage

@testable import ReplicaModel
@testable import ReplicaTestSupport

/// One run of the daemon: it ends in good order, or is left where it stands.
final class Machine: Sendable {
    let replica: Replica
    let engine: SyncEngine
    let store: SimulatedStore

    init(_ folders: StateFolders, _ world: World) throws {
        let clock = world.clock
        let wakeSignal = WakeSignal()
        var options = DomainOptions()
        options.settle = 1
        options.isSequential = true
        store = SimulatedStore(world.store, world)
        replica = try Replica.open(folders, now: { clock.withLock { $0 } }, wake: { wakeSignal.signal() })
        engine = SyncEngine(
            replica: replica, store: store, options: options, wakeSignal: wakeSignal,
            log: Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }, random: { 0.5 })
        engine.restore()
        try replica.scan()
    }
}

extension MemoryStore {
    /// The present state of an item.
    func present(_ identifier: ItemIdentifier) -> Item? { tree.withLock { $0.nodes[identifier]?.item } }

    /// What a content version stands, or stood, for.
    func content(ofVersion version: String) -> [UInt8]? { tree.withLock { $0.contentVersions[version] } }

    func holds(_ identifier: ItemIdentifier) -> Bool { present(identifier) != nil }

    /// Every present content.
    var contents: [[UInt8]] {
        tree.withLock { tree in tree.nodes.values.filter { $0.item.kind == .file }.map(\.content) }
    }
}
