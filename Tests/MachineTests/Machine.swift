import Foundation
import Glibc
import Logging
import ReplicaTestSupport
import SystemPackage
import Threads

@testable import ReplicaModel

/// One machine: a replica with its engine, driven step by step on a clock of its own, and a store that it opens anew after each crash.
/// Large: a method for each thing that happens to a machine.
final class Machine: Sendable {
    /// One run of the daemon.
    struct Run: Sendable {
        let replica: Replica
        let engine: SyncEngine
        let line: Line
        let opened: SharedPlace.Opened
    }

    let number: Int
    private let home: TemporaryFolder
    private let place: SharedPlace
    private let log: OperationLog.Writer
    private let clock: Locked<Double>
    private let skew: Double
    private let asksAboutRoot: Bool
    private let current: Locked<Run?>
    let random: Locked<SeededGenerator>

    private var folders: StateFolders { StateFolders(root: home.path.appending("state")) }
    /// What the clock shows, for the times of files.
    var now: Double { clock.withLock { $0 } + skew }

    /// A machine with a new replica.
    /// - Parameters:
    ///   - skew: What its clock is ahead of the others', in seconds.
    ///   - asksAboutRoot: As in a domain; not where all may be removed.
    init(
        _ number: Int, of place: SharedPlace, log: OperationLog, seed: UInt64, skew: Double, asksAboutRoot: Bool = false
    ) throws {
        (self.number, self.place, self.skew, self.asksAboutRoot) = (number, place, skew, asksAboutRoot)
        self.log = log.writer(number)
        random = Locked(SeededGenerator(seed &* 31 &+ UInt64(number)), rank: .innermost)
        clock = Locked(Date().timeIntervalSince1970, rank: .innermost)
        current = Locked(nil)
        home = try TemporaryFolder()
        try home.makeFolder("store")
        try folders.makeDomain()
    }

    func run() throws -> Run {
        guard let run = current.withLock({ $0 }) else { throw BrokenPromise("machine \(number) is off") }
        return run
    }

    /// Starts the daemon.
    func start() async throws {
        let line = Line(random.withLock { $0.next() })
        let opened = try await place.open(
            folder: home.path.appending("store").string, log: log, line: line, asksAboutRoot: asksAboutRoot)
        let wakeSignal = WakeSignal()
        let (clock, skew) = (self.clock, self.skew)
        var options = DomainOptions()
        (options.settleSeconds, options.isSequential) = (1, true)
        let replica = try Replica.open(
            folders,
            clock: RunClock(wall: { clock.withLock { $0 } + skew }, counted: { clock.withLock { $0 } }),
            wake: { wakeSignal.signal() })
        let engine = SyncEngine(
            replica: replica, store: opened.store, options: options, wakeSignal: wakeSignal,
            log: Logger(label: "machine") { _ in SwiftLogNoOpLogHandler() }, random: { 0.5 })
        engine.restore()
        try replica.scan()
        current.withLock { $0 = Run(replica: replica, engine: engine, line: line, opened: opened) }
    }

    /// Ends the daemon, in good order or where it stands.
    func stop(inOrder: Bool) async throws {
        let run = try run()
        if inOrder { try run.replica.close() }
        await run.opened.close()
        current.withLock { $0 = nil }
    }

    /// Exchanges what is to be exchanged.
    func exchange() async throws {
        let run = try run()
        clock.withLock { $0 += 400 }
        run.engine.askNow()
        await run.engine.receive()
        _ = await run.engine.send()
        if run.line.isDead {
            try await stop(inOrder: false)
            try await start()
        } else {
            try run.replica.record()
        }
    }

    var isQuiet: Bool { get throws { try run().engine.isQuiet() } }

    /// Why it is not at rest.
    var unrest: String {
        guard let run = current.withLock({ $0 }) else { return "off" }
        let pending = run.replica.withTree { tree in
            tree.pending.values.map { node in
                "\(tree.path(of: node).map(\.description).joined(separator: "/")) \(node.base?.identifier.rawValue ?? "new")"
                    + " dirty \(node.dirty.rawValue) flags \(node.flags.rawValue) \(node.failure.map { "\($0)" } ?? "")"
            }
        }
        let incoming = ((try? run.replica.incoming(after: 0, limit: 20)) ?? []).map { "\($0.1.identifier)" }
        let failure = run.engine.state.withLock { "\($0.storeFailure.map { "\($0)" } ?? "") held \($0.deletions.held)" }
        return "machine \(number): pending \(pending), incoming \(incoming), \(failure)"
    }
}
