import Foundation
import Glibc
import Logging
import SystemPackage
import Testing

@testable import ReplicaModel
@testable import ReplicaTestSupport
@testable import Threads

/// A running domain over a memory store, in a temporary folder.
final class DomainBench: Sendable {
    private let own: BenchFolder
    var folder: FilePath { own.path }
    var folders: StateFolders { own.state }
    let store: MemoryStore
    private let options: DomainOptions
    private let current: Locked<Domain>

    var domain: Domain { current.withLock { $0 } }
    var replica: Replica { domain.replica }

    /// Runs `body` with a started domain, and removes everything afterwards.
    static func run(
        store: MemoryStore = MemoryStore(), options: DomainOptions = DomainOptions(),
        importing: ((String) throws -> Void)? = nil, _ body: (DomainBench) async throws -> Void
    ) async throws {
        let bench = try DomainBench(store, options, importing)
        do {
            bench.domain.start()
            try await body(bench)
            try await bench.domain.stop()
        } catch {
            try await bench.domain.stop()
            throw error
        }
    }

    private init(_ store: MemoryStore, _ options: DomainOptions, _ importing: ((String) throws -> Void)?) throws {
        own = try BenchFolder()
        try own.makeDomain(importing: importing)
        self.store = store
        var options = options
        options.settleSeconds = 0.01
        // A change comes by its signal, or not at all.
        options.pullIntervalSeconds = 3_600
        self.options = options
        current = Locked(try Domain.open(own.state, store: store, options: options, log: Self.quiet))
    }

    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Stops cleanly and starts again.
    func restart() async throws {
        try await domain.stop()
        let next = try Domain.open(folders, store: store, options: options, log: Self.quiet)
        // Objects that the old domain releases take locks themselves.
        _ = current.withLock { domain in
            defer { domain = next }
            return domain
        }
        next.start()
    }

    /// Waits until `isTrue`.
    func until(_ what: String, _ isTrue: () async throws -> Bool) async throws {
        guard try await eventually(isTrue) else { throw Never(what: what, state: state) }
    }

    struct Never: Error {
        var what: String
        var state: String
    }

    /// Details that may explain a timeout.
    private var state: String {
        let pending = replica.withTree { tree in
            tree.pending.values.map {
                "\($0.number) \($0.name) dirty \($0.dirty.rawValue) flags \($0.flags.rawValue) busy \($0.isInFlight) "
                    + String(describing: $0.failure)
            }
        }
        return "pending \(pending), engine \(domain.engine.state.withLock { "\($0)" })"
    }

    /// Waits until both sides are in sync.
    func settle() async throws {
        domain.engine.askNow()
        try await until("both sides in step") { domain.engine.isQuiet() }
    }

    // MARK: A user's actions, by path

    static let caller = Caller(user: geteuid(), group: getegid())

    static func names(_ path: String) -> [FileName] { path.split(separator: "/").map { FileName(String($0)) } }

    /// Runs `body` with the parent folder of a path and its last name.
    private func inFolder<Value>(of path: String, _ body: (ItemNumber, FileName) throws -> Value) async throws -> Value
    {
        let names = Self.names(path)
        let held = try await domain.hold(names.dropLast(), listing: true)
        defer { domain.release(held) }
        return try body(held.inodeNumber, names.last ?? FileName(""))
    }

    /// Runs `body` with the inode number of the item at a path.
    func withItem<Value>(_ path: String, _ body: (ItemNumber) async throws -> Value) async throws -> Value {
        let held = try await domain.hold(Self.names(path), listing: true)
        defer { domain.release(held) }
        return try await body(held.inodeNumber)
    }

    func write(_ text: String, to path: String) async throws {
        try await inFolder(of: path) { folder, name in
            let (number, file) = try open(name, in: folder)
            let bytes = Array(text.utf8)
            #expect(Glibc.write(file.descriptor, bytes, bytes.count) == bytes.count)
            close(file.descriptor)
            replica.closed(number, isWriter: true)
            replica.forget(number, count: 1)
        }
    }

    private func open(_ name: FileName, in folder: ItemNumber) throws -> (ItemNumber, OpenFile) {
        guard try replica.entries(of: folder).contains(where: { $0.name == name }) else {
            let made = try replica.createFile(name, in: folder, mode: 0o644, flags: O_WRONLY, caller: Self.caller)
            return (made.0.number, made.1)
        }
        let number = try replica.lookup(name, in: folder).number
        return (number, try replica.open(number, flags: O_WRONLY | O_TRUNC))
    }

    func makeFolder(_ path: String) async throws {
        try await inFolder(of: path) { folder, name in
            let entry = try replica.makeFolder(name, in: folder, mode: 0o755, caller: Self.caller)
            replica.forget(entry.number, count: 1)
        }
    }

    func remove(_ path: String, isFolder: Bool = false) async throws {
        try await inFolder(of: path) { folder, name in try replica.remove(name, in: folder, isFolder: isFolder) }
    }

    func rename(_ path: String, to target: String) async throws {
        let names = Self.names(target)
        let into = try await domain.hold(names.dropLast(), listing: true)
        defer { domain.release(into) }
        try await inFolder(of: path) { folder, name in
            try replica.rename(name, in: folder, to: names.last ?? name, in: into.inodeNumber, flags: [])
        }
    }

    func setXattr(_ name: String, _ value: String, of path: String) async throws {
        try await withItem(path) { number in
            try Array(value.utf8).withUnsafeBytes { try replica.setXattr(name, $0, flags: 0, of: number) }
        }
    }

    /// The content, fetched if it is not local.
    func read(_ path: String) async throws -> String {
        try await withItem(path) { number in
            try await domain.hydrate(number, range: nil)
            return try replica.text(of: number)
        }
    }

    // MARK: Inspection

    func item(_ path: String) async throws -> ItemReport { try await domain.item(at: Self.names(path)) }

    /// Whether the replica has an entry at the path.
    func exists(_ path: String) -> Bool {
        do {
            domain.release(try replica.hold(Self.names(path)))
            return true
        } catch {
            return false
        }
    }

    /// The file in the backing tree.
    func backing(_ path: String) -> String { folders.tree.string + "/" + path }

    /// The status of the file in the backing tree.
    func status(_ path: String) throws -> stat {
        var status = stat()
        guard lstat(backing(path), &status) == 0 else { throw Errno(rawValue: errno) }
        return status
    }

    static func text(_ path: [FileName]) -> String { path.map(\.description).joined(separator: "/") }
}

/// Holds back calls of a store until it is opened.
final class HeldCalls: Sendable {
    private let isOpen = Locked(false)

    func open() { isOpen.withLock { $0 = true } }

    func pass() async throws(RemoteStoreError) {
        while !isOpen.withLock({ $0 }) {
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                throw .cancelled
            }
        }
    }
}
