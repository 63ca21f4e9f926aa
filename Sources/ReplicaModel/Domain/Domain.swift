internal import Glibc
package import Logging
package import SystemPackage
internal import Threads

/// A remote store and a local replica of it, which are kept in sync. Large: one method for each request of a user.
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

    /// For tests, which open the replica and the engine themselves.
    init(replica: Replica, engine: SyncEngine, store: any RemoteStore, wakeSignal: WakeSignal, lock: Int32) {
        self.replica = replica
        self.engine = engine
        self.store = store
        self.wakeSignal = wakeSignal
        self.lock = lock
    }

    /// Opens a domain that was created or imported. Nothing is exchanged with the store before ``start()``.
    /// - Throws: EBUSY if another process serves the domain; ``RemovalNotFinished``; an errno or the database's error.
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

    /// Starts to record changes and to exchange them with the store, after a scan if one is due.
    package func start() {
        let (engine, wakeSignal) = (self.engine, self.wakeSignal)
        let scan = BlockingWork.run {
            engine.scan()
            wakeSignal.signal()
        }
        let upkeep = Task { await engine.runUpkeep() }
        let rounds = Task { await engine.runRounds() }
        let exchange = Task { await engine.run() }
        resumeReimports()
        running.withLock { $0 = Running(engine: exchange, upkeep: upkeep, rounds: rounds, scan: scan) }
    }

    /// Stops, records everything and lets another process serve the domain. Unsent changes stay pending. Fetches and listings that nobody
    /// waits for are cancelled, and awaited. A second call has no effect.
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
        engine.callTimeouts.limitSilence(seconds: Self.longestLastCall)
        if let stopping {
            for task in [stopping.engine, stopping.upkeep, stopping.rounds, stopping.scan] { task.cancel() }
            wakeSignal.signal()
            await stopping.scan.value
            await stopping.upkeep.value
            await stopping.rounds.value
            await stopping.engine.value
        }
        await engine.background.end()
        if stopping != nil { await engine.makeDurableIfPossible() }
        replica.events.finish()
        defer { close(lock) }
        try replica.close()
    }

    /// Whether it was started and not stopped.
    var isRunning: Bool { running.withLock { $0 != nil } }

    /// How long a call may be silent while the domain stops, in seconds.
    static let longestLastCall = 30.0

    /// Fetches the listing of a folder that was never listed. Waits for the store.
    /// - Throws: ENETDOWN if disconnected, EHOSTUNREACH if the store does not answer, EACCES without a login.
    package func list(_ folder: ItemNumber) async throws(Errno) {
        try await engine.list(folder)
    }

    /// The store's space as it was last reported; nil if it is not known. Never waits.
    package func usage() -> StoreUsage? { engine.usage() }

    /// Fetches a range of a file's content, or all of it for nil. Readers of the same bytes share one fetch.
    /// - Throws: As ``list(_:)``; ESTALE if the store's content changed meanwhile; ENOSPC.
    package func hydrate(_ file: ItemNumber, range: Range<Int64>?) async throws(Errno) {
        try await engine.hydrate(file, range: range)
        // A program that opened it to append writes at the size that the kernel knows.
        await engine.waitForPresentation(of: file, seconds: SyncEngine.presentationSeconds)
    }

    /// Brings a file of which nothing is local up to date before a program opens it for reading. Waits for the store a few
    /// seconds at most, and never fails.
    package func revalidate(_ file: ItemNumber) async { await engine.revalidate(file) }

    /// Provides content for a program that reads. Content that can't be kept, for example because the disk is too full,
    /// passes through memory.
    /// - Parameters:
    ///   - wanted: The range to be read.
    ///   - ahead: The range to fetch, if the content is kept.
    /// - Returns: The bytes of `wanted` up to the end of the file, if they are not kept; nil if they are local now.
    /// - Throws: The errors of ``hydrate(_:range:)`` except ENOSPC.
    package func read(
        _ file: ItemNumber, _ wanted: Range<Int64>, ahead: Range<Int64>
    ) async throws(Errno) -> UncachedBytes? {
        let bytes = try await engine.read(file, wanted, ahead: ahead)
        // The kernel cuts what is read at the size that it knows.
        await engine.waitForPresentation(of: file, seconds: SyncEngine.presentationSeconds)
        return bytes
    }
}
