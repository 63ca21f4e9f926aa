import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import SFTPStore

/// A session of calls on OpenSSH's sftp-server, whose connection ends at each of its requests in turn: before it arrives, when
/// its answer is lost, or in the middle of the answer. What failed is sent again as the engine does. At the end all is there
/// once, as it was written.
@Suite struct CutConnectionTests {
    @Test(arguments: ["before", "after", "within"])
    func nothingIsLostOrDoubledWhereverItEnds(_ mode: String) async throws {
        let next = Locked(0)
        let end = Locked(Int.max)
        // As many at a time as have something to do beside their waiting.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    while true {
                        let number = next.withLock { number in
                            // A request that was cut is done like one whose answer was.
                            number += mode == "within" ? 4 : 1
                            return number
                        }
                        if number > end.withLock({ $0 }) { return }
                        let ground = try CutGround(mode, number)
                        let wasCut = try await ground.run()
                        if !wasCut { end.withLock { $0 = min($0, number) } }
                    }
                }
            }
            try await group.waitForAll()
        }
        // There were as many requests as such a session has.
        #expect(end.withLock { $0 } > 60)
    }
}

extension CutConnectionTests {
    /// When it has returned, nothing of ours is to be seen, wherever the connection ended.
    @Test func whatIsMadeDurableLeavesNothing() async throws {
        var number = 0
        repeat { number += 1 } while try await CutGround("before", number).makesDurable()
        #expect(number > 20)
    }
}

/// One such session.
private final class CutGround: Sendable {
    private let (mode, number): (String, Int)
    private let folder: String
    private var mark: String { folder + "/mark" }
    private let past = Locked<Int64>(0)

    init(_ mode: String, _ number: Int) throws {
        (self.mode, self.number) = (mode, number)
        folder = "/var/tmp/replica-test-\(getpid())-cut-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder + "/root", withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: mark))
    }

    deinit {
        // What cannot be removed is left for the machine's own cleaning.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// - Returns: Whether the connection was cut.
    func run() async throws -> Bool { try await cut(session) }

    /// The same of another session: a folder, and that it is durable.
    func makesDurable() async throws -> Bool {
        try await cut { [self] storage in
            let folder = StoragePath([FileName("folder")])
            try await again {
                do throws(PathStorageError) {
                    _ = try await storage.make(folder, kind: .folder, attributes: PathAttributes())
                } catch .taken {
                    return
                } catch .unreachable {
                    throw RemoteStoreError.serverUnreachable
                }
            }
            try await again {
                do throws(PathStorageError) { try await storage.makeDurable() } catch .unreachable {
                    throw RemoteStoreError.serverUnreachable
                }
            }
            try expect(try FileManager.default.contentsOfDirectory(atPath: self.folder + "/root"), ["folder"])
        }
    }

    private func cut(_ session: (SFTPStorage) async throws -> Void) async throws -> Bool {
        var command = SSHCommand()
        command.program = FilePath(#filePath).removingLastComponent().appending("cutting-ssh").string
        command.arguments = [mode, "\(number)", mark]
        var limits = ConnectionLimits()
        limits.steady = .zero
        let (chosen, connection) = (command, limits)
        let address = try SFTPAddress("cut\(folder)/root")
        let storage = try await again { () async throws in
            do throws(SFTPFailure) {
                return try await SFTPStorage.open(address, command: chosen, limits: connection)
            } catch {
                throw RemoteStoreError.serverUnreachable
            }
        }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await session(storage)) } catch { outcome = .failure(error) }
        await storage.close()
        do { try outcome.get() } catch { Issue.record("\(mode) \(number): \(error)") }
        return !FileManager.default.fileExists(atPath: mark)
    }

    private func session(_ storage: SFTPStorage) async throws {
        var options = PathStoreOptions()
        (options.openInterval, options.wholeInterval) = (0, 0)
        // Nobody else writes here: who waits for the clock's grain need not.
        options.now = { [past] in past.withLock { $0 } }
        options.sleep = { [past] passed in past.withLock { $0 += passed } }
        let store = try PathStore(storage, folder: folder, options: options)
        let large = (0..<262_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

        let inner = try await create("folder", .folder, in: .root, nil, store)
        let small = try await create("small", .file, in: inner.identifier, Array("text".utf8), store)
        _ = try await create("large", .file, in: .root, large, store)
        _ = try await create("link", .symlink, in: .root, nil, store)
        let changed = try await modify(small, .contents, Array("text two".utf8), store) { _ in }
        let moved = try await modify(changed, .place, nil, store) { template in
            (template.parent, template.filename) = (.root, FileName("moved"))
        }
        _ = try await modify(moved, .mode, nil, store) { $0.metadata.mode = 0o600 }
        try await again { try await store.deleteItem(inner.identifier, base: inner.version) }
        let items = try await again { try await store.enumerateItems(in: .root, from: nil).items }
        try expect(items.map(\.filename.description).sorted(), ["large", "link", "moved"])
        for item in items where item.kind == .file {
            let buffer = ContentBuffer()
            _ = try await again {
                try await store.fetchContents(of: item.identifier, version: nil, range: nil, into: buffer)
            }
            try expect(buffer.bytes, item.filename == FileName("large") ? large : Array("text two".utf8))
        }
        try await again { try await store.makeDurable() }
        try expect(items.first { $0.filename == FileName("moved") }?.metadata.mode, 0o600)
        // On the server's own disk, with nothing of ours that is left.
        let isTidy = try await eventually { [folder] in
            // What a connection left is removed by the next one.
            _ = try? await storage.entry(at: .root)
            return try FileManager.default.contentsOfDirectory(atPath: folder + "/root").sorted() == [
                "large", "link", "moved",
            ]
        }
        try expect(isTidy, true)
        try expect(Array(try Data(contentsOf: URL(filePath: folder + "/root/large"))), large)
    }

    private func expect<Value: Equatable>(_ found: Value, _ wanted: Value) throws {
        if found != wanted { throw BrokenPromise("\(found) instead of \(wanted)".prefix(300).description) }
    }

    // MARK: As the engine sends it

    private func again<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        for _ in 0..<20 {
            do { return try await body() } catch RemoteStoreError.serverUnreachable {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        throw BrokenPromise("it never comes back")
    }

    private func create(
        _ name: String, _ kind: ItemKind, in parent: ItemIdentifier, _ content: [UInt8]?, _ store: PathStore
    ) async throws -> Item {
        let template = ItemTemplate(
            identifier: ItemIdentifier("template of \(name)"), parent: parent, filename: FileName(name), kind: kind,
            target: kind == .symlink ? Array("target".utf8) : nil)
        let isFirst = Locked(true)
        return try await again {
            if !isFirst.withLock({ $0 }), let made = try await store.itemCreated(from: template) { return made }
            isFirst.withLock { $0 = false }
            let result = try await sending(content) { contents async throws(RemoteStoreError) in
                try await store.createItem(
                    basedOn: template, fields: content == nil ? .place : [.place, .contents], contents: contents,
                    options: [])
            }
            return try #require(result.item)
        }
    }

    private func modify(
        _ item: Item, _ fields: ItemFields, _ content: [UInt8]?, _ store: PathStore,
        _ change: (inout ItemTemplate) -> Void
    ) async throws -> Item {
        var template = ItemTemplate(
            identifier: item.identifier, parent: item.parent, filename: item.filename, kind: item.kind)
        change(&template)
        let sent = template
        return try await again {
            let result = try await sending(content) { contents async throws(RemoteStoreError) in
                try await store.modifyItem(sent, base: item.version, changedFields: fields, contents: contents)
            }
            return try #require(result.item)
        }
    }

    private func sending(
        _ content: [UInt8]?, _ body: (ItemContents?) async throws(RemoteStoreError) -> StoreResult
    ) async throws -> StoreResult {
        guard let content else { return try await body(nil) }
        return try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            try await body(contents)
        }
    }
}
