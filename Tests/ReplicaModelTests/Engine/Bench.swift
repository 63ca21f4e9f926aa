import Foundation
import Glibc
import Logging
import ReplicaTestSupport
import SystemPackage

@testable import ReplicaModel
@testable import Threads

/// A replica with its engine over a memory store, driven step by step with a manual clock. Large: a method for each step that a
/// test takes, of programs, the engine and the machine.
final class Bench {
    private let folder: BenchFolder
    var folders: StateFolders { folder.state }
    let store: MemoryStore
    /// The store that the engine calls: ``store``, or a wrapper of it.
    let remote: any RemoteStore
    let clock = Locked(1_000_000.0, rank: .innermost)
    /// The wall clock's difference from ``clock``, as if it was set.
    let clockSet: Locked<Double>
    private(set) var replica: Replica
    private(set) var engine: SyncEngine
    let wakeSignal = WakeSignal()
    let options: DomainOptions
    private let reading: SnapshotFiles.Read?

    init(
        store: MemoryStore = MemoryStore(), through remote: (any RemoteStore)? = nil, enforcing: Bool = false,
        scanning: Bool = true, isAdded: Bool = false, importing: ((String) throws -> Void)? = nil,
        reading: SnapshotFiles.Read? = nil, clockSet: Double = 0
    ) throws {
        self.reading = reading
        self.clockSet = Locked(clockSet, rank: .innermost)
        folder = try BenchFolder()
        try isAdded ? folder.state.makeDomain() : folder.makeDomain(importing: importing)
        self.store = store
        self.remote = remote ?? store
        var options = DomainOptions()
        options.settleSeconds = 1
        options.isSequential = true
        options.enforcesCapabilities = enforcing
        self.options = options
        (replica, engine) = try Self.open(folder.state, self.remote, options, clock, self.clockSet, wakeSignal, reading)
        if scanning { try replica.scan() }
    }

    private static func open(
        _ folders: StateFolders, _ store: any RemoteStore, _ options: DomainOptions, _ clock: Locked<Double>,
        _ clockSet: Locked<Double>,
        _ wakeSignal: WakeSignal, _ reading: SnapshotFiles.Read?
    ) throws -> (Replica, SyncEngine) {
        let clock = RunClock(
            wall: { clock.withLock { $0 } + clockSet.withLock { $0 } }, counted: { clock.withLock { $0 } })
        let replica = try Replica.open(folders, clock: clock, wake: { wakeSignal.signal() })
        let engine = SyncEngine(
            replica: replica, store: store, options: options, wakeSignal: wakeSignal,
            log: Logger(label: "test") { _ in
                SwiftLogNoOpLogHandler()
            }, snapshots: reading.map { SnapshotFiles(in: folders.staging, read: $0) }, random: { 0.5 })
        engine.restore()
        return (replica, engine)
    }

    /// Ends the replica without a clean stop, like a crash, and opens it again.
    func crash(scanning: Bool = true) throws {
        (replica, engine) = try Self.open(folders, remote, options, clock, clockSet, wakeSignal, reading)
        if scanning { try replica.scan() }
    }

    /// Makes the tree differ from the one that the database describes.
    func exchangeTree() throws {
        let root = replica.withTree { $0.root.descriptor }
        try BackingPath(folder: root, name: FileName(".")).setXattr(OwnXattr.epoch, to: Array("77".utf8))
    }

    /// Crashes, and starts in another boot.
    func cutPower() throws {
        try replica.database.write { try Meta.boot.write("another", to: $0) }
        try crash()
    }

    /// Stops cleanly and starts again.
    func restart() throws {
        try replica.close()
        (replica, engine) = try Self.open(folders, remote, options, clock, clockSet, wakeSignal, reading)
        try replica.scan()
    }

    func pass(_ seconds: Double) { clock.withLock { $0 += seconds } }

    /// Exchanges changes until both sides have no more.
    func settle() async throws {
        engine.askNow()
        for _ in 0..<40 {
            pass(400)
            await engine.receive()
            _ = await engine.send()
            try replica.record()
            if engine.isQuiet() { return }
        }
        struct NeverQuiet: Error, CustomStringConvertible { var description: String }
        let pending = replica.withTree { tree in
            tree.pending.values.map {
                "\($0.number) \($0.name) \($0.dirty.rawValue) \($0.flags.rawValue) \(String(describing: $0.failure))"
            }
        }
        throw NeverQuiet(description: "pending \(pending) state \(engine.state.withLock { "\($0)" })")
    }

    // MARK: Local operations, by path

    static let caller = Caller(user: geteuid(), group: getegid())

    func number(_ path: String) throws -> ItemNumber {
        var number = ItemNumber.root
        for part in path.split(separator: "/") {
            number = try replica.lookup(FileName(String(part)), in: number).number
        }
        return number
    }

    private func split(_ path: String) throws -> (ItemNumber, FileName) {
        let parts = path.split(separator: "/")
        return (try number(parts.dropLast().joined(separator: "/")), FileName(String(parts.last ?? "")))
    }

    func write(_ text: String, to path: String) throws {
        let (parent, name) = try split(path)
        let (number, file) = try openForWriting(name, in: parent)
        let bytes = Array(text.utf8)
        _ = Glibc.write(file.descriptor, bytes, bytes.count)
        close(file.descriptor)
        replica.closed(number, isWriter: true)
    }

    private func openForWriting(_ name: FileName, in parent: ItemNumber) throws -> (ItemNumber, OpenFile) {
        let isThere = try replica.entries(of: parent).contains { $0.name == name }
        guard isThere else {
            let made = try replica.createFile(name, in: parent, mode: 0o644, flags: O_WRONLY, caller: Self.caller)
            return (made.0.number, made.1)
        }
        let number = try replica.lookup(name, in: parent).number
        return (number, try replica.open(number, flags: O_WRONLY | O_TRUNC))
    }

    func makeFolder(_ path: String) throws {
        let (parent, name) = try split(path)
        _ = try replica.makeFolder(name, in: parent, mode: 0o755, caller: Self.caller)
    }

    func rename(_ path: String, to target: String, _ flags: RenameFlags = []) throws {
        let (parent, name) = try split(path)
        let (into, newName) = try split(target)
        try replica.rename(name, in: parent, to: newName, in: into, flags: flags)
    }

    func remove(_ path: String, isFolder: Bool = false) throws {
        let (parent, name) = try split(path)
        try replica.remove(name, in: parent, isFolder: isFolder)
    }

    /// The content, fetched if it is not local.
    func read(_ path: String) async throws -> String {
        let number = try await find(path)
        try await engine.hydrate(number, range: nil)
        return try replica.text(of: number)
    }

    /// Looks a path up, listing folders on the way.
    func find(_ path: String) async throws -> ItemNumber {
        while true {
            do {
                return try number(path)
            } catch ReplicaError.needsListing(let folder) {
                try await engine.list(folder)
            }
        }
    }

    /// All paths and file contents below, dataless ones as `nil`, folders with a `/`.
    func tree() throws -> [String: String?] {
        var found: [String: String?] = [:]
        func walk(_ number: ItemNumber, _ path: String) throws {
            for entry in try replica.entries(of: number) {
                let here = path + entry.name.description
                switch entry.type {
                case .folder:
                    found[here + "/"] = .some(nil)
                    do { try walk(entry.number, here + "/") } catch ReplicaError.needsListing {}
                case .symlink: found[here] = String(decoding: try replica.target(of: entry.number), as: UTF8.self)
                default:
                    let isWhole = replica.withTree { $0.items[inode: entry.number]?.materialization == .whole }
                    found[here] =
                        isWhole ? try? String(contentsOfFile: folders.tree.string + "/" + here, encoding: .utf8) : nil
                }
            }
        }
        try walk(.root, "")
        return found
    }
}
