import CLinux
import Foundation
import Glibc
import SystemPackage
import Threads

@testable import ReplicaModel
@testable import ReplicaTestSupport

/// A store, a tree and the daemon between them, with a virtual clock: everything follows from the steps.
///
/// One thing happens at a time; the race that a store call meets happens within that call. Large: a step of the simulation may
/// change anything in it, and each file has the methods of one kind of step.
// The flow of steps is one; only the pieces in `Locked` are touched from within calls, so sharing is right.
final class World: @unchecked Sendable {
    let store: any Remote
    /// The storage of ``store``, where that is a storage of paths.
    let paths: MemoryPathStorage?
    /// Seconds that passed.
    let clock = Locked(1_000_000.0, rank: .innermost)
    /// What the wall clock tells beside that: somebody sets it now and then.
    let clockSet = Locked(2_000_000_000.0, rank: .innermost)
    let script = Locked(Script())
    let rules: RuleBook
    let profile: Profile
    /// Of how many deletions a window is opened, where the guard is looked at.
    static let mostDeletions = 2
    /// Whether the user approved a deletion.
    var hasApproved = false
    /// Whether the person would rather have the store get again what it deleted.
    let isSaving: Bool
    /// Whether programs look at everything as soon as the daemon lives again.
    let looksEarly: Bool
    /// The contents of the tree while no program changes it; nil while one may.
    let still = Locked<[String: Disk.Entry]?>(nil)
    private let temporary: TemporaryFolder
    var folder: FilePath { temporary.path }
    let folders: StateFolders
    private(set) var daemon: DaemonRun!
    private let history = Locked<[String]>([])
    private let frozen = Locked<[CheckedContinuation<Void, Never>]>([])
    private let finish = Locked<CheckedContinuation<Bool, Never>?>(nil)
    private var flows: [Task<Void, Never>] = []
    /// Descriptors of files that programs hold open for writing.
    let held = Locked<[Held]>([])
    var copies: DatabaseCopies { DatabaseCopies(folder: folder, database: folders.database) }

    /// Stores differ in what they owe us: some tell us of our own changes, some have one version for all.
    /// - Parameter isOfPaths: Whether the store is one over a storage that knows only paths.
    init(seed: UInt64, profile: Profile, isOfPaths: Bool = false) throws {
        rules = RuleBook(mayForget: profile == .restored)
        self.profile = profile
        isSaving = seed % 5 < 2
        looksEarly = seed % 7 < 3
        // On tmpfs where that keeps attributes: thousands of seeds are many files.
        temporary = try TemporaryFolder(in: Self.keepsAttributes ? "/dev/shm" : "/var/tmp")
        folders = StateFolders(root: temporary.path.appending("state"))
        try folders.makeDomain()
        if isOfPaths {
            let clock = clock
            let remote = PathRemote(
                seed: seed, folder: folders.root.string, now: { Int64(clock.withLock { $0 } * 1_000_000_000) },
                wait: { duration in clock.withLock { $0 += Double(duration) / 1_000_000_000 } })
            (store, paths) = (remote, remote.storage)
        } else {
            let memory = MemoryStore()
            memory.reportsOwnChanges = seed % 2 == 0
            memory.hasOneVersion = seed % 3 == 0
            (store, paths) = (memory, nil)
        }
        listenToPaths()
        daemon = try DaemonRun(folders, self)
    }

    private static let keepsAttributes: Bool = {
        var path = Array("/dev/shm/replica-test-\(getpid())-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        guard file >= 0 else { return false }
        defer {
            unlink(path)
            close(file)
        }
        return setxattr(path, "user.test", "", 0, 0) == 0
    }()

    func say(_ line: String) { history.withLock { $0.append(line) } }
    var lines: [String] { history.withLock { $0 } }
    func pass(_ seconds: Double) { clock.withLock { $0 += seconds } }

    // MARK: Death and restart

    /// Runs `body` until it ends, or until the daemon dies in it.
    func live(_ body: @escaping @Sendable (DaemonRun) async -> Void) async throws {
        let daemon = self.daemon!
        let hasDied = await withCheckedContinuation { continuation in
            finish.withLock { $0 = continuation }
            flows.append(
                Task {
                    await body(daemon)
                    self.end(hasDied: false)
                })
        }
        if hasDied { try crash() }
    }

    private func end(hasDied: Bool) {
        let waiting = finish.withLock { finish in
            defer { finish = nil }
            return finish
        }
        waiting?.resume(returning: hasDied)
    }

    /// Stops the calling flow for good: the daemon is dead. It unwinds when the world ends.
    func freeze() async {
        await withCheckedContinuation { continuation in
            frozen.withLock { $0.append(continuation) }
            end(hasDied: true)
        }
    }

    /// The daemon ends without a word. What is in the tree then stays as it is.
    func crash() throws {
        daemon.store.die()
        say("  crash")
        checkStill()
        releaseAll(isAlive: false)
        let before = try Disk.entries(folders.tree)
        // What programs wrote when the daemon was gone is theirs.
        still.withLock { if $0 != nil { $0 = before } }
        daemon = try DaemonRun(folders, self)
        try checkUntouched(since: before)
    }

    private func checkUntouched(since before: [String: Disk.Entry]) throws {
        let after = try Disk.entries(folders.tree)
        for path in Set(before.keys).union(after.keys).sorted() where before[path] != after[path] {
            // A placeholder that nobody recorded may go.
            if let entry = before[path], entry.isDataless, after[path] == nil { continue }
            rules.violate("the restart changed \(path): \(before[path]?.text ?? "-") is \(after[path]?.text ?? "-")")
        }
    }

    func restart() throws {
        releaseAll(isAlive: true)
        try daemon.replica.close()
        daemon.store.die()
        daemon = try DaemonRun(folders, self)
    }

    /// The daemon stops in good order, and starts over the copy.
    func startOverCopy() throws {
        guard copies.exists("old") else { return }
        say("  starts over an older database")
        releaseAll(isAlive: true)
        try daemon.replica.close()
        daemon.store.die()
        try copies.restore("old")
        daemon = try DaemonRun(folders, self)
    }

    /// The daemon dies after it has applied what it noted, before it records that.
    func crashAfterApplying() async throws {
        let daemon = self.daemon!
        try daemon.replica.record()
        try await live { daemon in await daemon.engine.pull() }
        guard daemon === self.daemon else { return }
        try copies.make("unapplied")
        let listings = store.listings
        try await live { daemon in await daemon.engine.applyIncoming() }
        guard daemon === self.daemon else { return }
        daemon.store.die()
        // A folder's listing is recorded before anything is put into the folder.
        if store.listings == listings { try copies.restore("unapplied") }
        try crash()
    }

    // MARK: The end

    /// Lets everything that died unwind.
    func end() async {
        releaseAll(isAlive: false)
        daemon.store.die()
        daemon = nil
        for continuation in frozen.withLock({ $0 }) { continuation.resume() }
        for flow in flows { await flow.value }
        flows = []
    }
}
