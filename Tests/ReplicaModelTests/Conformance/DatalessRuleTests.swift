import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// MODEL.md#content: programs use a file whose content is in the store.
@Suite struct DatalessRuleTests {
    enum Step: CaseIterable {
        case status, rename, move, chmod, utimens, setXattr, removeXattr, unlink, openForReading, truncate,
            openTruncating
        case renameOver
    }

    @Test(arguments: Step.allCases)
    func metadataAndTruncationNeverFetch(step: Step) async throws {
        let bench = try Bench()
        bench.store.makeFolder("d")
        bench.store.write(String(repeating: "theirs ", count: 10_000), to: "x")
        bench.store.update("x") { $0.extendedAttributes = ["user.old": [1]] }
        try await bench.settle()
        _ = try await bench.find("d")
        try await bench.domain.download(Bench.names("d"), waits: true)
        let version = bench.store.item(at: "x")?.version.content
        try take(step, bench)
        try await bench.settle()
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
        if [.status, .chmod, .utimens, .setXattr, .removeXattr, .openForReading].contains(step) {
            #expect(bench.store.item(at: "x")?.version.content == version)
        }
        expectResult(of: step, bench)
    }

    private func take(_ step: Step, _ bench: Bench) throws {
        let number = try bench.number("x")
        switch step {
        case .status: #expect(try bench.replica.attributes(of: number).status.size == 70_000)
        case .rename: try bench.rename("x", to: "y")
        case .move: try bench.rename("x", to: "d/x")
        case .chmod: try bench.setAttributes(of: "x") { $0.mode = 0o600 }
        case .utimens: try bench.setAttributes(of: "x") { $0.modified = .to(Timestamp(seconds: 99, nanoseconds: 1)) }
        case .setXattr: try bench.setXattr("user.comment", "hello", of: "x")
        case .removeXattr: try bench.replica.setXattr("user.old", nil, flags: 0, of: number)
        case .unlink: try bench.remove("x")
        case .openForReading:
            let file = try bench.replica.open(number, flags: O_RDONLY)
            close(file.descriptor)
            bench.replica.closed(number, isWriter: false)
        case .truncate: try bench.setAttributes(of: "x") { $0.size = 0 }
        case .openTruncating: bench.replica.overwrite(number, with: "short")
        case .renameOver:
            try bench.write("short", to: "x.new")
            try bench.rename("x.new", to: "x")
        }
    }

    private func expectResult(of step: Step, _ bench: Bench) {
        let item = bench.store.item(at: "x")
        switch step {
        case .status, .openForReading: #expect(bench.store.content(at: "x")?.count == 70_000)
        case .rename: #expect(bench.store.content(at: "y")?.count == 70_000)
        case .move: #expect(bench.store.content(at: "d/x")?.count == 70_000)
        case .chmod: #expect(item?.metadata.mode == 0o600)
        case .utimens: #expect(item?.metadata.modificationDate == Timestamp(seconds: 99, nanoseconds: 1))
        case .setXattr: #expect(item?.metadata.extendedAttributes?["user.comment"] == Array("hello".utf8))
        case .removeXattr: #expect(item?.metadata.extendedAttributes == [:])
        case .unlink: #expect(item == nil)
        case .truncate: #expect(bench.store.text(at: "x") == "")
        case .openTruncating, .renameOver: #expect(bench.store.text(at: "x") == "short")
        }
    }

    @Test func aFolderOfAHundredThousandIsListedInPages() async throws {
        let bench = try Bench()
        bench.store.pageSize = 20_000
        bench.store.makeFolder("d")
        for index in 0..<100_000 { bench.store.write("theirs", to: "d/\(index)") }
        try bench.write("here", to: "x")
        try await bench.settle()
        bench.store.clearCalls()
        let (engine, folder) = (bench.engine, try bench.number("d"))
        let listing = Task { try await engine.list(folder) }
        // Everything else continues meanwhile.
        var looks = 0
        while bench.replica.withTree({ $0.items[folder]?.materialization == .dataless }) {
            #expect(try bench.replica.lookup(FileName("x"), in: .root).status.size == 4)
            looks += 1
            try await Task.sleep(for: .milliseconds(5))
        }
        try await listing.value
        #expect(looks > 10)
        #expect((5...6).contains(bench.store.calls(of: .enumerateItems).count))
        #expect(try bench.replica.entries(of: folder).count == 100_000)
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
    }

    @Test func writingBytesFetchesFirst() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        #expect(throws: ReplicaError.needsContent(number)) { try bench.replica.open(number, flags: O_RDWR) }
        #expect(throws: ReplicaError.needsContent(number)) { try bench.setAttributes(of: "x") { $0.size = 100 } }
        // A file is truncated without fetching it; the rest is fetched before it is sent.
        try bench.setAttributes(of: "x") { $0.size = 3 }
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "the")
    }

    @Test func aSafeSaveKeepsTheItem() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        let identifier = bench.store.item(at: "x")?.identifier
        try bench.write("two", to: ".x.swp")
        try bench.rename(".x.swp", to: "x")
        try await bench.settle()
        #expect(bench.store.item(at: "x")?.identifier == identifier)
        #expect(bench.store.text(at: "x") == "two")
        #expect(bench.store.calls(of: .createItem).count == 1)
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    @Test func twoHundredSavesAreOneModify() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        for index in 0..<200 { try bench.write("save \(index)", to: "x") }
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).count == 1)
        #expect(bench.store.text(at: "x") == "save 199")
    }

    @Test func filesRemovedBeforeTheUploadAreNotSent() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.clearCalls()
        try bench.makeFolder("d")
        try bench.write("one", to: "d/x")
        try bench.remove("d/x")
        try bench.remove("d", isFolder: true)
        try await bench.settle()
        #expect(bench.store.calls.allSatisfy { $0.method == .enumerateChanges })
    }

    @Test func devicesSocketsAndPipesStayLocal() async throws {
        let bench = try Bench()
        _ = try bench.replica.makeNode(
            FileName("pipe"), in: .root, mode: UInt32(S_IFIFO) | 0o600, device: 0, caller: Bench.caller)
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.domain.report().localOnly == 1)
        #expect(try bench.domain.report().pending == 0)
    }
}
