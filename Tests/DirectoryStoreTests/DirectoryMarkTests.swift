import Foundation
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import DirectoryStore

/// The question whether a template made an item costs no look at every file of the folder.
@Suite struct DirectoryMarkTests {
    let scratch: Scratch
    let store: DirectoryStore

    init() throws {
        scratch = try Scratch()
        store = try DirectoryStore(path: scratch.root)
    }

    private func template(_ mark: String, named name: String) -> ItemTemplate {
        ItemTemplate(identifier: ItemIdentifier(mark), parent: .root, filename: FileName(name), kind: .file)
    }

    /// How many entries are looked at for `questions` about what was never made, among `files`.
    private func looks(_ questions: Int, among files: Int) async throws -> Int {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        for number in 0..<files { try await store.make("f\(number)", "text") }
        for number in 0..<questions {
            #expect(try await store.itemCreated(from: template("other \(number)", named: "other \(number)")) == nil)
        }
        return store.tree.marks.withLock { $0.checks }
    }

    @Test func aFolderIsSearchedOnce() async throws {
        #expect(try await looks(100, among: 50) <= 50 + 100)
        #expect(try await looks(100, among: 200) <= 200 + 100)
    }

    @Test func itemsRenamedByOthersAreFound() async throws {
        let made = try await store.make("file", "text")
        _ = try await store.itemCreated(from: template("nothing", named: "nothing"))
        try await ShellClient(root: scratch.root).move("file", to: "elsewhere")
        let found = try await store.itemCreated(from: template("template of file", named: "file"))
        #expect(found?.identifier == made.identifier)
        #expect(found?.filename == FileName("elsewhere"))
    }

    @Test func itemsCreatedAfterTheScanAreFound() async throws {
        try await store.make("first", "text")
        _ = try await store.itemCreated(from: template("nothing", named: "nothing"))
        let made = try await store.make("second", "text")
        try await ShellClient(root: scratch.root).move("second", to: "third")
        #expect(
            try await store.itemCreated(from: template("template of second", named: "second"))?.identifier
                == made.identifier)
    }

    @Test func deletedItemsAreNotFound() async throws {
        let made = try await store.make("file", "text")
        _ = try await store.itemCreated(from: template("nothing", named: "nothing"))
        try await store.deleteItem(made.identifier, base: made.version)
        #expect(try await store.itemCreated(from: template("template of file", named: "file")) == nil)
    }

    @Test func unusedMarksAreDropped() {
        var marks = TemplateMarkIndex()
        marks.begin(.root)
        marks.finish(.root, [(Array("mark".utf8), FileName("file"))])
        #expect(marks.name(of: ItemIdentifier("mark"), in: .root) == .some(FileName("file")))
        marks.dropIdle()
        #expect(marks.name(of: ItemIdentifier("mark"), in: .root) == .some(FileName("file")))
        marks.dropIdle(now: .now + TemplateMarkIndex.longestLife + .seconds(1))
        #expect(marks.name(of: ItemIdentifier("mark"), in: .root) == nil)
    }

    @Test func theLeastRecentlyUsedFolderIsDroppedFirst() {
        var marks = TemplateMarkIndex()
        let folders = (1...9).map { ItemKey(inode: $0, birth: 0, link: 0) }
        for folder in folders {
            marks.begin(folder)
            marks.finish(folder, [])
        }
        #expect(marks.name(of: ItemIdentifier("mark"), in: folders[0]) == nil)
        #expect(marks.name(of: ItemIdentifier("mark"), in: folders[8]) == .some(nil))
    }
}
