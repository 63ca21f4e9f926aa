import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// Names that are given by a look and a call, where the file system does not do both at once.
@Suite(.serialized) struct RenamingTests {
    let scratch: Scratch
    let store: DirectoryStore

    init() throws {
        scratch = try Scratch()
        store = try Self.open(scratch)
    }

    private static func open(_ scratch: Scratch, keepsAttributes: Bool = true) throws -> DirectoryStore {
        var abilities = FileSystemAbilities()
        (abilities.renamesExactly, abilities.keepsAttributes) = (false, keepsAttributes)
        return try DirectoryStore(path: scratch.root, abilities: abilities)
    }

    private func flag(_ flag: String, _ folder: String) throws {
        try #require(try run("chattr", flag, "\(scratch.root)/\(folder)") == 0)
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(scratch.root)/\(folder)").sorted()
    }

    /// From an append-only folder nothing is unlinked, but links are made.
    @Test func anInterruptedRenameIsUndone() async throws {
        let (from, to) = (try await store.make("from"), try await store.make("to"))
        let file = try await store.make("file", "text", in: from.identifier)
        try flag("+a", "from")
        defer { #expect(throws: Never.self) { try flag("-a", "from") } }
        await expectFailure("itemUnavailable") { try await store.rename(file, to: "file", in: to.identifier) }
        #expect(try names("from") == ["file"] && names("to").isEmpty)
        try flag("-a", "from")
        try await store.rename(file, to: "file", in: to.identifier)
        #expect(try names("from").isEmpty && names("to") == ["file"])
    }

    /// Neither can be undone, or the daemon was killed: both names are there until the next try.
    @Test func anInterruptedRenameIsCompleted() async throws {
        let store = try Self.open(scratch, keepsAttributes: false)
        let (from, to) = (try await store.make("from"), try await store.make("to"))
        let file = try await store.make("file", "text", in: from.identifier)
        for folder in ["from", "to"] { try flag("+a", folder) }
        await expectFailure("itemUnavailable") { try await store.rename(file, to: "other", in: to.identifier) }
        for folder in ["from", "to"] { try flag("-a", folder) }
        #expect(try names("from") == ["file"] && names("to") == ["other"])
        let next = try Self.open(scratch, keepsAttributes: false)
        let moved = try await next.rename(try await next.item(file.identifier), to: "other", in: to.identifier)
        #expect(try names("from").isEmpty && names("to") == ["other"])
        #expect(moved.identifier == file.identifier)
        #expect(try await next.text(moved) == "text")
    }

    /// Another file of that name is no half of a rename.
    @Test func anotherFileIsNotTouched() async throws {
        let file = try await store.make("file", "text")
        try await store.make("other", "text")
        await expectFailure("filenameCollision") { try await store.rename(file, to: "other") }
        #expect(try names("") == ["file", "other"])
    }

    /// What cannot be removed comes back under its name.
    @Test func aDeletionThatFailsIsUndone() async throws {
        let folder = try await store.make("folder")
        let file = try await store.make("file", "text", in: folder.identifier)
        try flag("+a", "folder")
        await expectFailure("itemUnavailable") { try await store.deleteItem(file.identifier, base: file.version) }
        try flag("-a", "folder")
        #expect(try await store.all(in: folder.identifier) == [file])
        try await store.deleteItem(file.identifier, base: file.version)
        #expect(try await store.all(in: folder.identifier).isEmpty)
    }

    @Test func newContentReplacesOnlyItsBase() async throws {
        let file = try await store.make("file", "base")
        let newer = try await store.rewrite(file, "newer")
        #expect(newer.identifier == file.identifier)
        await expectFailure("versionConflict") { try await store.rewrite(file, "stale") }
        #expect(try await store.text(newer) == "newer")
        #expect(try names("") == ["file"])
    }
}
