import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// The invalidations after a change of the store that is made directly in the backing tree.
@Suite struct InvalidationTests {
    private static func place(_ bench: Bench, _ folder: String, _ name: String) throws -> ItemPlace {
        ItemPlace(folder: try bench.number(folder), name: FileName(name))
    }

    /// A bench with two listed folders, and a file in the first, that the kernel does not know.
    private static func bench(_ presenter: RefusingPresenter) async throws -> Bench {
        let bench = try Bench()
        bench.store.write("text", to: "from/file")
        bench.store.makeFolder("into")
        try await bench.settle()
        for folder in ["from", "into"] { try await bench.engine.list(try await bench.find(folder)) }
        try await bench.settle()
        bench.replica.setPresenter(presenter)
        return bench
    }

    /// Otherwise its listing of the target folder would permanently lack the moved item.
    @Test func aMoveInvalidatesBothFolders() async throws {
        let presenter = RefusingPresenter()
        let bench = try await Self.bench(presenter)
        defer { bench.replica.setPresenter(nil) }
        let places = [try Self.place(bench, "from", "file"), try Self.place(bench, "into", "name")]
        bench.store.move("from/file", to: "into/name")
        try await bench.settle()
        #expect(presenter.calls.withLock { $0 } > 0)
        #expect(presenter.forgotten.withLock { $0 } == places)
    }

    /// A program opens the folders after they were found to be unknown to the kernel, and before the change.
    @Test func aListingBeforeAChangeIsInvalidated() async throws {
        let presenter = RefusingPresenter()
        let bench = try await Self.bench(presenter)
        defer { bench.replica.setPresenter(nil) }
        let replica = bench.replica
        let (from, into) = (try bench.number("from"), try bench.number("into"))
        let call = PresentedCall.rename(
            FileName("file"), in: PresentedItem(path: [FileName("from")], number: from), to: FileName("name"),
            into: PresentedItem(path: [FileName("into")], number: into))
        replica.forget(from, count: 100)
        replica.forget(into, count: 100)
        try replica.present(call, isSeen: false) { _ in nil }
        #expect(presenter.forgotten.withLock { $0 }.isEmpty)
        _ = try bench.number("into")
        try replica.present(call, isSeen: false) { _ in nil }
        #expect(presenter.calls.withLock { $0 } == 0)
        #expect(presenter.forgotten.withLock { $0 } == [ItemPlace(folder: into, name: FileName("name"))])
    }

    /// The kernel has something else under a name that it was not told of, and a rename of that name takes it along.
    @Test func aRenameOfAStaleNameInvalidatesTheNewName() async throws {
        let presenter = RefusingPresenter()
        let bench = try await Self.bench(presenter)
        defer { bench.replica.setPresenter(nil) }
        let from = try bench.number("from")
        presenter.isLate.withLock { $0 = true }
        bench.store.move("from/file", to: "from/name")
        try await bench.settle()
        presenter.forgotten.withLock { $0 = [] }
        for (old, new) in [("name", "a"), ("a", "b")] {
            try bench.replica.rename(FileName(old), in: from, to: FileName(new), in: from, flags: [])
        }
        // The second moves on what the first took along.
        let places = ["name", "a", "a", "b"].map { ItemPlace(folder: from, name: FileName($0)) }
        #expect(presenter.forgotten.withLock { $0 } == places)
        presenter.tell()
        try bench.replica.rename(FileName("b"), in: from, to: FileName("name"), in: from, flags: [])
        #expect(presenter.forgotten.withLock { $0 } == places)
    }

    /// Also if nothing is renamed here, because both are names of one file: the kernel may have two files there.
    @Test func aRenameOfAStaleNameToAnotherOfItsFileInvalidatesBoth() async throws {
        let presenter = RefusingPresenter()
        let bench = try await Self.bench(presenter)
        defer { bench.replica.setPresenter(nil) }
        let from = PresentedItem(path: [FileName("from")], number: try bench.number("from"))
        _ = try await bench.read("from/file")
        _ = try bench.replica.link(try bench.number("from/file"), as: FileName("link"), in: from.number)
        presenter.isLate.withLock { $0 = true }
        let call = PresentedCall.rename(FileName("file"), in: from, to: FileName("name"), into: from)
        try bench.replica.present(call, isSeen: false) { _ in nil }
        presenter.forgotten.withLock { $0 = [] }
        try bench.rename("from/file", to: "from/link")
        #expect(presenter.forgotten.withLock { $0.map(\.name) } == [FileName("file"), FileName("link")])
        presenter.tell()
    }

    /// So does a rename of the engine's own.
    @Test func aPresentedRenameOfAStaleNameInvalidatesBoth() async throws {
        let presenter = RefusingPresenter()
        let bench = try await Self.bench(presenter)
        defer { bench.replica.setPresenter(nil) }
        let from = PresentedItem(path: [FileName("from")], number: try bench.number("from"))
        let call = PresentedCall.rename(FileName("file"), in: from, to: FileName("name"), into: from)
        presenter.isLate.withLock { $0 = true }
        try bench.replica.present(call, isSeen: false) { _ in nil }
        presenter.forgotten.withLock { $0 = [] }
        let replica = bench.replica
        presenter.onCall.withLock { $0 = { _ = try? replica.performPresented($0, FileName("file"), in: from.number) } }
        try replica.present(call, isSeen: true) { _ in nil }
        #expect(presenter.forgotten.withLock { $0 } == call.places)
        presenter.tell()
        try replica.present(call, isSeen: true) { _ in nil }
        #expect(presenter.forgotten.withLock { $0 } == call.places)
    }

    /// To the kernel the call has failed: it would list the folder without the name for good.
    @Test func aChangeAnsweredWithAnErrorIsInvalidated() async throws {
        let presenter = RefusingPresenter()
        let bench = try await Self.bench(presenter)
        defer { bench.replica.setPresenter(nil) }
        let (replica, number) = (bench.replica, try bench.number("from/file"))
        let from = PresentedItem(path: [FileName("from")], number: try bench.number("from"))
        let call = PresentedCall.makeFile(FileName("file"), in: from)
        let answer = Locked<ReplicaError?>(nil)
        presenter.onCall.withLock {
            $0 = { ticket in
                do throws(ReplicaError) {
                    _ = try replica.performPresented(ticket, FileName("file"), in: from.number)
                } catch { answer.withLock { $0 = error } }
            }
        }
        let below = bench.folders.tree.string + "/from/file"
        try replica.present(call, isSeen: true) { tree in
            unlink(below)
            return tree.items[number]
        }
        #expect(answer.withLock { $0?.errno } == .noSuchFileOrDirectory)
        #expect(presenter.forgotten.withLock { $0 } == call.places)
    }

    /// Also one that fails: a part of it may be made.
    @Test(arguments: [true, false]) func aFailedChangeIsInvalidated(isSeen: Bool) async throws {
        let presenter = RefusingPresenter()
        let bench = try await Self.bench(presenter)
        defer { bench.replica.setPresenter(nil) }
        let replica = bench.replica
        let from = PresentedItem(path: [FileName("from")], number: try bench.number("from"))
        let call = PresentedCall.makeFile(FileName("new"), in: from)
        presenter.onCall.withLock { $0 = { _ = try? replica.performPresented($0, FileName("new"), in: from.number) } }
        #expect(throws: ReplicaError.errno(.ioError)) {
            try replica.present(call, isSeen: isSeen) { (_) throws(ReplicaError) in throw .errno(.ioError) }
        }
        #expect(presenter.forgotten.withLock { $0 } == call.places)
    }
}
