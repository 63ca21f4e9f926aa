import Foundation
import PathStore
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// The store is restored from an older backup: its state is shown, but the newer bytes that are only here stay on the disk.
@Suite struct RestoredBackupTests {
    /// Tomorrow, and the day after: a local file that was just made is older.
    private static let tomorrow = Timestamp(secondsSince1970: Date().timeIntervalSince1970 + 86_400)
    private static let nextDay = Timestamp(secondsSince1970: Date().timeIntervalSince1970 + 2 * 86_400)

    private func write(_ text: String, to path: String, _ date: Timestamp, in bench: Bench) async throws {
        try bench.write(text, to: path)
        try bench.setAttributes(of: path) { $0.modified = .to(date) }
        try await bench.settle()
    }

    /// A domain whose files `paths` were written tomorrow, and the backup of its store.
    private func withBackup(of paths: [String] = ["f"], besides count: Int = 0) async throws -> (
        Bench, MemoryStore.Moment
    ) {
        let bench = try await Bench.withFiles(count)
        for path in paths { try await write("old", to: path, Self.tomorrow, in: bench) }
        return (bench, bench.store.moment)
    }

    private func keptTexts(_ bench: Bench) throws -> [String] {
        try bench.kept().map { try String(contentsOfFile: bench.folders.kept.string + "/" + $0, encoding: .utf8) }
            .sorted()
    }

    @Test(arguments: [false, true]) func newerBytesAreKept(afterAStop: Bool) async throws {
        let (bench, backup) = try await withBackup()
        try await write("newer", to: "f", Self.nextDay, in: bench)
        if afterAStop { try bench.restart() }
        // The user has put it in order.
        try FileManager.default.removeItem(atPath: bench.folders.kept.string)
        #expect(try bench.domain.report().kept == 0)
        bench.store.goBack(to: backup)
        try await bench.settle()
        #expect(try await bench.read("f") == "old")
        #expect(try bench.kept() == ["newer-\(try bench.number("f").rawValue) f"])
        #expect(try keptTexts(bench) == ["newer"])
        #expect(try bench.domain.report().kept == 1)
    }

    /// The daemon was killed after the exchange of the files. Other files there are removed.
    @Test func newerBytesAreFoundAfterACrash() throws {
        let bench = try Bench()
        try FileManager.default.removeItem(atPath: bench.folders.kept.string)
        for name in ["newer-77 a b", "newer-x y", "swap-3"] {
            try "newer".write(toFile: bench.folders.staging.string + "/" + name, atomically: false, encoding: .utf8)
        }
        try bench.crash()
        #expect(try bench.kept() == ["newer-77 a b"])
        #expect(try keptTexts(bench) == ["newer"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folders.staging.string).isEmpty)
    }

    @Test func aNewerContentOfTheStoreReplacesTheFormer() async throws {
        let (bench, _) = try await withBackup()
        bench.store.write("theirs", to: "f")
        bench.store.update("f") { $0.modificationDate = Self.nextDay }
        try await bench.settle()
        #expect(try await bench.read("f") == "theirs")
        #expect(try bench.kept().isEmpty)
    }

    /// Their bytes are not here, or are here under another name too.
    @Test(arguments: [false, true]) func contentThatIsNotOnlyHereIsNotKept(isLinked: Bool) async throws {
        let (bench, backup) = try await withBackup()
        try await write("newer", to: "f", Self.nextDay, in: bench)
        if isLinked {
            _ = try bench.replica.link(try bench.number("f"), as: FileName("other"), in: .root)
        } else {
            #expect(try await bench.domain.evict([], isStrict: false).items == 1)
        }
        bench.store.goBack(to: backup)
        try await bench.settle()
        #expect(try await bench.read("f") == "old")
        #expect(try bench.kept().isEmpty)
    }

    /// A tool set an earlier date, and the store's version contains it.
    @Test func equalBytesStay() async throws {
        let (bench, _) = try await withBackup()
        let file = try bench.status("f").st_ino
        bench.store.write("old", to: "f")
        bench.store.update("f") { $0.modificationDate = Timestamp(seconds: 1000, nanoseconds: 0) }
        try await bench.settle()
        #expect(try bench.status("f").st_ino == file)
        #expect(try bench.status("f").st_mtim.tv_sec == 1000)
        #expect(try bench.kept().isEmpty)
    }

    /// Files that were created since the backup are deleted here too. That an older file is gone has another reason.
    @Test(arguments: [0, 150]) func deletedFilesThatAreNewerAreKept(besides count: Int) async throws {
        let (bench, backup) = try await withBackup(of: ["f", "old"], besides: count)
        try await write("newer", to: "f", Self.nextDay, in: bench)
        try bench.makeFolder("d")
        try await write("created", to: "d/created", Self.nextDay, in: bench)
        try await write("here before", to: "before", Timestamp(seconds: 1000, nanoseconds: 0), in: bench)
        bench.store.goBack(to: backup)
        try await bench.settle()
        #expect(try bench.tree().filter { !$0.key.hasPrefix("f") || $0.key == "f" } == ["f": "old", "old": "old"])
        // Of many items, they can be restored for a while.
        try await bench.settle()
        #expect(try keptTexts(bench) == ["created", "newer"])
    }

    /// Folders are compared one after the other.
    @Test(arguments: [(3600, ["created", "newer"]), (7300, ["newer"])] as [(Double, [String])])
    func deletionsThatAreReportedLaterCountToo(seconds: Double, kept: [String]) async throws {
        let (bench, _) = try await withBackup()
        try await write("newer", to: "f", Self.nextDay, in: bench)
        try await write("created", to: "created", Self.nextDay, in: bench)
        bench.store.write("older", to: "f")
        bench.store.update("f") { $0.modificationDate = Timestamp(seconds: 1000, nanoseconds: 0) }
        try await bench.receive()
        bench.pass(seconds)
        bench.store.delete("created")
        try await bench.receive()
        #expect(try bench.tree() == ["f": "older"])
        #expect(try keptTexts(bench) == kept)
    }

    /// A tool that restores may remove before it writes.
    @Test func deletionsThatAreReportedFirstCountToo() async throws {
        let (bench, _) = try await withBackup()
        try await write("newer", to: "f", Self.nextDay, in: bench)
        try await write("created", to: "created", Self.nextDay, in: bench)
        // In batches of their own.
        bench.store.batchSize = 1
        bench.store.delete("created")
        bench.store.write("older", to: "f")
        bench.store.update("f") { $0.modificationDate = Timestamp(seconds: 1000, nanoseconds: 0) }
        try await bench.settle()
        #expect(try bench.tree() == ["f": "older"])
        #expect(try keptTexts(bench) == ["created", "newer"])
    }

    @Test func withoutAReversalDeletedFilesAreNotKept() async throws {
        let (bench, _) = try await withBackup(of: ["f", "g"])
        bench.store.delete("f")
        try await bench.settle()
        #expect(try bench.tree() == ["g": "old"])
        #expect(try bench.kept().isEmpty)
    }

    @Test func approvedDeletionsAreFinal() async throws {
        let (bench, backup) = try await withBackup()
        for index in 0..<150 { try bench.write("created", to: "new\(index)") }
        try await write("newer", to: "f", Self.nextDay, in: bench)
        for index in 0..<150 { try bench.setAttributes(of: "new\(index)") { $0.modified = .to(Self.nextDay) } }
        try await bench.settle()
        bench.store.goBack(to: backup)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(bench.domain.approve() == 150)
        try await bench.settle()
        #expect(try bench.tree() == ["f": "old"])
        #expect(try keptTexts(bench) == ["newer"])
    }

    /// It does not fill the disk: of each item, the newest content is kept.
    @Test func aStoreThatGoesBackAndForthLeavesOneContent() async throws {
        let (bench, _) = try await withBackup()
        for round in 0..<20 {
            let newest = round == 7
            bench.store.write("forth \(round)", to: "f")
            bench.store.update("f") { $0.modificationDate = newest ? Self.nextDay : Self.tomorrow }
            try await bench.receive()
            bench.store.write("back \(round)", to: "f")
            bench.store.update("f") { $0.modificationDate = Timestamp(seconds: 1000, nanoseconds: 0) }
            try await bench.receive()
        }
        #expect(try await bench.read("f") == "back 19")
        #expect(try keptTexts(bench) == ["forth 7"])
    }

    /// A store over paths can't tell the backup from changes by others.
    @Test func aRestoredStorageLeavesTheNewerBytes() async throws {
        let (storage, table) = (MemoryPathStorage(), try TemporaryFolder())
        let store = try PathStore(storage, folder: table.path.string, options: .alwaysListing)
        let bench = try Bench(through: store)
        try await bench.settle()
        for path in ["f", "same"] { try await write("old", to: path, Self.tomorrow, in: bench) }
        try await write("newer", to: "f", Self.nextDay, in: bench)
        try await write("created", to: "created", Self.nextDay, in: bench)
        storage.put(Array("old".utf8), at: "f", attributes: PathAttributes(modificationDate: Self.tomorrow))
        storage.put(Array("old".utf8), at: "same", attributes: PathAttributes(modificationDate: Self.tomorrow))
        storage.take("created")
        try await bench.settle()
        #expect(try bench.tree() == ["f": "old", "same": "old"])
        #expect(try keptTexts(bench) == ["created", "newer"])
    }
}
