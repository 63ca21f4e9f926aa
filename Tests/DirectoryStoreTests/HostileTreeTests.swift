import Foundation
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// Directories that were prepared to attack the store.
@Suite(.serialized) struct HostileTreeTests {
    let scratch: Scratch
    let store: DirectoryStore
    let outside: String

    init() throws {
        scratch = try Scratch()
        store = try DirectoryStore(path: scratch.root)
        outside = "\(scratch.path)/outside"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
        try Data("precious".utf8).write(to: URL(fileURLWithPath: "\(outside)/file"))
    }

    private var outsideNames: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: outside) }
    }

    @Test func aFolderReplacedByASymlinkIsNotEntered() async throws {
        let folder = try await store.make("folder")
        _ = try await store.all()
        #expect(rmdir("\(scratch.root)/folder") == 0)
        #expect(symlink(outside, "\(scratch.root)/folder") == 0)
        await expectFailure("noSuchItem") { try await store.make("file", "text", in: folder.identifier) }
        await expectFailure("noSuchItem") { _ = try await store.all(in: folder.identifier) }
        #expect(try outsideNames == ["file"])
    }

    @Test func aFileReplacedByASymlinkIsNotRead() async throws {
        let file = try await store.make("file", "text")
        #expect(unlink("\(scratch.root)/file") == 0)
        #expect(symlink("\(outside)/file", "\(scratch.root)/file") == 0)
        await expectFailure("noSuchItem") { _ = try await store.text(file) }
        await expectFailure("noSuchItem") { try await store.rewrite(file, "changed") }
        #expect(FileManager.default.contents(atPath: "\(outside)/file") == Data("precious".utf8))
    }

    @Test func symlinksAreItemsAndNeverFollowed() async throws {
        let folder = try await store.make("folder")
        #expect(symlink(outside, "\(scratch.root)/folder/link") == 0)
        let link = try #require(try await store.all(in: folder.identifier).first)
        #expect(link.kind == .symlink && link.target == Array(outside.utf8))
        await expectFailure("cannotSynchronize") { _ = try await store.all(in: link.identifier) }
        try await store.deleteItem(link.identifier, base: link.version)
        #expect(try outsideNames == ["file"])
    }

    @Test func specialFilesAreNotItemsButOccupyTheirNames() async throws {
        #expect(mkfifo("\(scratch.root)/fifo", 0o600) == 0)
        #expect(try await store.all().isEmpty)
        await expectFailure("filenameCollision") { try await store.make("fifo", "text") }
        let file = try await store.make("file", "text")
        #expect(unlink("\(scratch.root)/file") == 0)
        #expect(mkfifo("\(scratch.root)/file", 0o600) == 0)
        await expectFailure("noSuchItem") { _ = try await store.text(file) }
    }

    @Test func namesAreBytes() async throws {
        let names: [[UInt8]] = [[0xff, 0xfe], [0xc3, 0x28], Array("e\u{301}".utf8), Array("\u{e9}".utf8), [0x01]]
        for name in names { try await store.make(bytes: FileName(bytes: name), "\(name)") }
        let items = try await store.all()
        #expect(Set(items.map(\.filename.bytes)) == Set(names))
        for item in items { #expect(try await store.text(item) == "\(item.filename.bytes)") }
    }

    @Test func namesOfTemporaryFilesAreRefused() async throws {
        await expectFailure("cannotSynchronize") { try await store.make(".replica-tmp-1", "text") }
    }

    @Test func filesNeverRunAsTheirOwner() async throws {
        var metadata = ItemMetadata()
        metadata.mode = 0o6755
        let template = ItemTemplate(
            identifier: ItemIdentifier("t"), parent: .root, filename: FileName("file"), kind: .file,
            metadata: metadata)
        let result = try await ItemContents.with([1]) { contents async throws(RemoteStoreError) in
            try await store.createItem(
                basedOn: template, fields: [.place, .contents, .mode], contents: contents, options: [])
        }
        #expect(result.item?.metadata.mode == 0o755)
        #expect(result.stillPending == .mode)
    }

    @Test func foreignIdentifiersAreUnknown() async throws {
        for text in ["", "1", "0-0", "x-y", "1-2-3-4", "../..", "ffffffffffffffff-ffffffffffffffff", "-", "1-"] {
            await expectFailure("noSuchItem") { _ = try await store.item(ItemIdentifier(text)) }
        }
    }

    @Test func foreignPagesAreUnknown() async throws {
        for text in ["", "1", "7.0", "-1.-1", "99999999999999999999.0"] {
            await expectFailure("syncAnchorExpired") {
                _ = try await store.enumerateItems(in: .root, from: EnumerationPage(bytes: Array(text.utf8)))
            }
        }
    }

    @Test func aLargeFolderIsListedInPages() async throws {
        for number in 0..<2_500 { #expect(mkdir("\(scratch.root)/\(number)", 0o700) == 0) }
        let first = try await store.enumerateItems(in: .root, from: nil)
        #expect(first.items.count == DirectoryTree.pageSize)
        #expect(rmdir("\(scratch.root)/\(first.items[0].filename)") == 0)
        var found = Set(first.items.map(\.identifier))
        var page = first.next
        while let next = page {
            let answer = try await store.enumerateItems(in: .root, from: next)
            found.formUnion(answer.items.map(\.identifier))
            page = answer.next
        }
        #expect(found.count == 2_500)
    }
}
