import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// Calls that are answered while a report is applied, which takes several steps through the mount
/// (docs/decisions/what-is-stale.md).
@Suite struct OutdatedStepTests {
    /// Another client moved an item to a name that a new file has here. While that file is renamed, a program renames the
    /// item, and the store answers that call.
    @Test func anAnswerDuringARenameIsNotOverwritten() async throws {
        let bench = try Bench()
        bench.store.write("text", to: "moved")
        try await bench.settle()
        let number = try bench.number("moved")
        try bench.write("new", to: "taken")
        bench.store.move("moved", to: "taken")
        try await Self.applyIncoming(bench, seeing: .root) { replica, store in
            try Self.rename(number, "moved", to: "mine", in: replica) { store.move("taken", to: "mine") }
        }
        #expect(try bench.number("mine") == number)
        try await bench.settle()
        #expect(try bench.number("mine") == number)
        #expect(bench.store.text(at: "mine") == "text")
    }

    /// Another client moved a folder into one that is not listed here. While its entries are removed here, a program
    /// renames it.
    @Test func aRenameDuringARemovalIsKept() async throws {
        let bench = try Bench()
        for folder in ["folder", "unlisted"] { bench.store.makeFolder(folder) }
        for name in ["a", "b"] { bench.store.write(name, to: "folder/\(name)") }
        try await bench.settle()
        let number = try await bench.find("folder")
        for folder in [.root, number] { try await bench.engine.list(folder) }
        bench.store.move("folder", to: "unlisted/folder")
        try await Self.applyIncoming(bench, seeing: number) { replica, store in
            try Self.rename(number, "folder", to: "mine", in: replica) { store.move("unlisted/folder", to: "mine") }
        }
        try await bench.settle()
        #expect(try bench.number("mine") == number)
        for name in ["a", "b"] { #expect(try await bench.read("mine/\(name)") == name) }
        #expect(bench.store.entries.keys.sorted() == ["mine", "mine/a", "mine/b", "unlisted"])
    }

    /// A file is created here, and another client renames it before the store answers. While the unknown item of the
    /// report is created, the answer comes.
    @Test func anAnswerDuringACreateMakesNoSecondItem() async throws {
        let bench = try Bench()
        try await bench.settle()
        try bench.write("new", to: "mine")
        bench.pass(400)
        let number = try bench.number("mine")
        guard case .send(let call) = try bench.replica.beginCall(number, settle: 1) else {
            throw ReplicaError.errno(.resourceBusy)
        }
        let item = bench.store.write("new", to: "mine")
        bench.store.move("mine", to: "theirs")
        try await Self.applyIncoming(bench, seeing: .root) { replica, _ in
            _ = try replica.finish(call, StoreResult(item: item, stillPending: []))
        }
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["theirs"])
        #expect(try bench.number("theirs") == number)
        #expect(bench.store.entries.keys.sorted() == ["theirs"])
    }

    /// Pulls and applies the store's changes. The first one that is made through the mount takes as long as `body`.
    /// - Parameter folder: One that the kernel knows.
    private static func applyIncoming(
        _ bench: Bench, seeing folder: ItemNumber, _ body: @escaping @Sendable (Replica, MemoryStore) throws -> Void
    ) async throws {
        let presenter = RefusingPresenter()
        let made = Locked<Result<Void, any Error>?>(nil)
        let (replica, store) = (bench.replica, bench.store)
        presenter.onCall.withLock { onCall in
            onCall = { _ in
                guard made.withLock({ $0 }) == nil else { return }
                made.withLock { $0 = .success(()) }
                let outcome = Result { try body(replica, store) }
                made.withLock { $0 = outcome }
            }
        }
        replica.setPresenter(presenter)
        replica.withTree { $0.items[folder]?.lookups += 1 }
        await bench.engine.pull()
        await bench.engine.applyIncoming()
        replica.setPresenter(nil)
        try #require(made.withLock { $0 }).get()
    }

    /// A rename by a program, and the store's answer to it.
    private static func rename(
        _ number: ItemNumber, _ name: String, to newName: String, in replica: Replica, _ inStore: () -> Item
    ) throws {
        try replica.rename(
            FileName(name), in: ItemNumber.root, to: FileName(newName), in: ItemNumber.root, flags: [])
        guard case .send(let call) = try replica.beginCall(number, settle: 0) else {
            throw ReplicaError.errno(.resourceBusy)
        }
        _ = try replica.finish(call, StoreResult(item: inStore(), stillPending: []))
    }
}
