import Foundation
import Glibc
import Logging
import SystemPackage
import Testing

@testable import ReplicaModel
@testable import ReplicaTestSupport

/// Additional steps of the bench for the statements.
extension Bench {
    /// A bench over a scripted store.
    convenience init(_ script: ScriptedStore) throws {
        try self.init(store: script.memory, through: script)
    }

    /// The calls of a domain, over the bench's replica and engine.
    var domain: Domain { Domain(replica: replica, engine: engine, store: remote, wakeSignal: wakeSignal, lock: -1) }

    /// An engine with other options over the bench's replica.
    func engine(_ change: (inout DomainOptions) -> Void) -> SyncEngine {
        var options = options
        change(&options)
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return SyncEngine(
            replica: replica, store: remote, options: options, wakeSignal: wakeSignal, log: log, random: { 0.5 })
    }

    static func names(_ path: String) -> [FileName] { path.split(separator: "/").map { FileName(String($0)) } }

    /// The result of `replica status PATH`.
    func report(_ path: String) async throws -> ItemReport { try await domain.item(at: Self.names(path)) }

    /// Sends what can be sent, that many seconds later.
    func send(after seconds: Double = 2) async throws {
        pass(seconds)
        _ = await engine.send()
        try replica.record()
    }

    /// Receives the store's changes, once.
    func receive() async throws {
        engine.askNow()
        await engine.receive()
        try replica.record()
    }

    /// Some rounds of both, for tests that never become quiet.
    func exchange() async throws {
        for _ in 0..<4 {
            try await receive()
            try await send()
        }
    }

    /// Waits until `isTrue`.
    func until(_ what: String, _ isTrue: () async throws -> Bool) async throws {
        try #require(try await eventually(isTrue), "never: \(what)")
    }

    /// A domain in sync with a store of files: `f0`, `f1`, ...
    static func withFiles(_ count: Int) async throws -> Bench {
        let store = MemoryStore()
        for index in 0..<count { store.write("\(index)", to: "f\(index)") }
        let bench = try Bench(store: store)
        try await bench.settle()
        return bench
    }

    /// Makes the store delete files of ``withFiles(_:)``.
    func deleteFiles(_ numbers: Range<Int>) {
        for index in numbers { store.delete("f\(index)") }
    }

    func makeSymlink(_ path: String, to target: String) throws {
        let names = Self.names(path)
        let parent = try number(names.dropLast().map(\.description).joined(separator: "/"))
        let name = names.last ?? FileName("")
        _ = try replica.makeSymlink(name, in: parent, target: Array(target.utf8), caller: Self.caller)
    }

    func setXattr(_ name: String, _ value: String, of path: String) throws {
        let number = try number(path)
        try Array(value.utf8).withUnsafeBytes { try replica.setXattr(name, $0, flags: 0, of: number) }
    }

    func setAttributes(of path: String, _ change: (inout AttributeChange) -> Void) throws {
        var attributes = AttributeChange()
        change(&attributes)
        _ = try replica.setAttributes(attributes, of: try number(path))
    }

    /// The status of the file in the backing tree.
    func status(_ path: String) throws -> stat {
        var status = stat()
        guard lstat(folders.tree.string + "/" + path, &status) == 0 else { throw Errno(rawValue: errno) }
        return status
    }

    /// Bytes of the backing file.
    func bytes(of path: String, at offset: Int64, count: Int) throws -> [UInt8] {
        let file = Glibc.open(folders.tree.string + "/" + path, O_RDONLY)
        guard file >= 0 else { throw Errno(rawValue: errno) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = pread(file, &bytes, count, Int(offset))
        return Array(bytes.prefix(max(0, got)))
    }

    /// The names in `kept/`.
    func kept() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folders.kept.string).sorted()
    }
}

extension Replica {
    /// Gives a file another content, like a program.
    func overwrite(_ number: ItemNumber, with text: String) {
        do {
            let file = try open(number, flags: O_WRONLY | O_TRUNC)
            let bytes = Array(text.utf8)
            #expect(Glibc.write(file.descriptor, bytes, bytes.count) == bytes.count)
            Glibc.close(file.descriptor)
            closed(number, isWriter: true)
        } catch {
            Issue.record("cannot be written: \(error)")
        }
    }
}
