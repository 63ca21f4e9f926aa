internal import Glibc
package import Logging
package import SystemPackage
internal import Threads

/// One remote store and one local replica of it, in step as well as the network allows.
/// Large: one method for each request of a person.
package final class Domain: Sendable {
    package let replica: Replica
    let engine: SyncEngine
    let store: any RemoteStore
    let wakeSignal: WakeSignal
    private let running = Locked<Running?>(nil)
    private let lock: Int32

    private struct Running {
        var engine: Task<Void, Never>
        var upkeep: Task<Void, Never>
        var rounds: Task<Void, Never>
        var scan: Task<Void, Never>
    }

    /// Whoever opens a replica and an engine in another way; tests do.
    init(replica: Replica, engine: SyncEngine, store: any RemoteStore, wakeSignal: WakeSignal, lock: Int32) {
        self.replica = replica
        self.engine = engine
        self.store = store
        self.wakeSignal = wakeSignal
        self.lock = lock
    }

    /// Opens a domain that was made or imported. Nothing is exchanged with the store before ``start()``.
    /// - Throws: EBUSY when another process serves the domain; ``RemovalNotFinished``; the errno or the database's error that
    ///   stands in the way.
    package static func open(
        _ folders: StateFolders, store: any RemoteStore, options: DomainOptions = DomainOptions(), log: Logger
    ) throws -> Domain {
        let lock = try folders.lockForServing()
        do {
            try folders.refuseBegunRemoval()
            let wakeSignal = WakeSignal()
            let replica = try Replica.open(folders, wake: { wakeSignal.signal() })
            let engine = SyncEngine(replica: replica, store: store, options: options, wakeSignal: wakeSignal, log: log)
            engine.restore()
            return Domain(replica: replica, engine: engine, store: store, wakeSignal: wakeSignal, lock: lock)
        } catch {
            close(lock)
            throw error
        }
    }

    /// Begins to scan where that is due, to record and to exchange changes with the store.
    package func start() {
        let (replica, engine, wakeSignal) = (self.replica, self.engine, self.wakeSignal)
        let isStopping = engine.isStopping
        let scan = BlockingWork.run {
            do {
                try replica.scan(isStopped: { isStopping.withLock { $0 } })
            } catch {
                engine.log.error("the tree cannot be compared", metadata: ["error": "\(error)"])
            }
            wakeSignal.signal()
        }
        let upkeep = Task { await engine.runUpkeep() }
        let rounds = Task { await engine.runRounds() }
        let exchange = Task { await engine.run() }
        resumeReimports()
        running.withLock { $0 = Running(engine: exchange, upkeep: upkeep, rounds: rounds, scan: scan) }
    }

    /// Stops, records everything and lets another process serve the domain. What is unsent stays pending. A second
    /// call does nothing.
    package func stop() async throws {
        let stopping = running.withLock { running in
            defer { running = nil }
            return running
        }
        let isFirst = engine.isStopping.withLock { isStopping in
            defer { isStopping = true }
            return !isStopping
        }
        guard isFirst else { return }
        if let stopping {
            for task in [stopping.engine, stopping.upkeep, stopping.rounds, stopping.scan] { task.cancel() }
            wakeSignal.signal()
            await stopping.scan.value
            await stopping.upkeep.value
            await stopping.rounds.value
            await stopping.engine.value
            await engine.makeDurableIfPossible()
        }
        replica.events.finish()
        defer { close(lock) }
        try replica.close()
    }

    /// Brings the listing of a folder that was never listed. Waits for the store, like the first listing must.
    /// - Throws: ENETDOWN when disconnected, EHOSTUNREACH when the store does not answer, EACCES without a login.
    package func list(_ folder: ItemNumber) async throws(Errno) {
        try await engine.list(folder)
    }

    /// Brings a range of a file's content, or all of it for nil. Readers of the same bytes share one fetch.
    /// - Throws: As ``list(_:)``; ESTALE when the store's content became another meanwhile; ENOSPC.
    package func hydrate(_ file: ItemNumber, range: Range<Int64>?) async throws(Errno) {
        try await engine.hydrate(file, range: range)
    }

    /// Brings content for a program that reads. What can't be kept, as a file that is larger than what is left on the disk,
    /// passes through memory.
    /// - Parameters:
    ///   - wanted: What is read.
    ///   - ahead: What to bring, as far as it is kept.
    /// - Returns: The bytes of `wanted`, as far as the file has them, when they are not kept; nil when they are here.
    /// - Throws: As ``hydrate(_:range:)``, but for ENOSPC.
    package func read(
        _ file: ItemNumber, _ wanted: Range<Int64>, ahead: Range<Int64>
    ) async throws(Errno) -> PassingBytes? {
        try await engine.read(file, wanted, ahead: ahead)
    }
}
