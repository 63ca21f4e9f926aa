import Foundation
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// Directories that are away, full or closed.
@Suite(.serialized) struct FailingDiskTests {
    static let isRoot = geteuid() == 0
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test func theDirectoryIsMadeWhenThatIsSaidButNotItsParents() async throws {
        let path = "\(scratch.path)/new"
        await expectFailure("serverUnreachable") { _ = try DirectoryStore(path: path) }
        #expect(access(path, F_OK) != 0)
        try DirectoryStore.makeDirectory(path, mode: 0o700)
        #expect(try await DirectoryStore(path: path).all().isEmpty)
        await expectFailure("cannotSynchronize") { try DirectoryStore.makeDirectory(path, mode: 0o700) }
        await expectFailure("cannotSynchronize") {
            try DirectoryStore.makeDirectory("\(scratch.path)/none/store", mode: 0o700)
        }
        try Data().write(to: URL(fileURLWithPath: "\(scratch.path)/file"))
        await expectFailure("cannotSynchronize") { _ = try DirectoryStore(path: "\(scratch.path)/file") }
    }

    @Test func aRootThatIsAwayIsUnreachableAndHeals() async throws {
        let store = try DirectoryStore(path: scratch.root)
        let file = try await store.make("file", "text")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        #expect(rename(scratch.root, "\(scratch.path)/away") == 0)
        await expectFailure("serverUnreachable") { _ = try await store.enumerateChanges(from: anchor) }
        await expectFailure("serverUnreachable") { _ = try await store.item(file.identifier) }
        await expectFailure("serverUnreachable") { _ = try await store.all() }
        await expectFailure("serverUnreachable") { try await store.make("new", "text") }
        await expectFailure("serverUnreachable") {
            try await store.deleteItem(file.identifier, base: file.version)
        }
        let signals = store.signals()
        #expect(rename("\(scratch.path)/away", scratch.root) == 0)
        for await _ in signals { break }
        #expect(try await store.item(file.identifier) == file)
        await expectFailure("syncAnchorExpired") { _ = try await store.enumerateChanges(from: anchor) }
    }

    /// An empty disk in the place of a full one is no deletion: a person has to say that it is meant.
    @Test func anotherDirectoryInItsPlaceIsNoDeletion() async throws {
        let store = try DirectoryStore(path: scratch.root)
        try await store.make("file", "text")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        #expect(rename(scratch.root, "\(scratch.path)/old") == 0)
        #expect(mkdir(scratch.root, 0o755) == 0)
        await expectFailure("cannotSynchronize") { _ = try await store.enumerateChanges(from: anchor) }
        #expect(try await store.all().isEmpty)
        let restarted = try DirectoryStore(path: scratch.root)
        await expectFailure("cannotSynchronize") { _ = try await restarted.enumerateChanges(from: anchor) }
    }

    @Test(.enabled(if: isRoot)) func aMountOverTheRootIsUnreachable() async throws {
        let store = try DirectoryStore(path: scratch.root)
        let file = try await store.make("file", "text")
        _ = try await store.all()
        try #require(try run("mount", "-t", "tmpfs", "tmpfs", scratch.root) == 0)
        await expectFailure("serverUnreachable") { _ = try await store.all() }
        try #require(try run("umount", scratch.root) == 0)
        #expect(try await store.all() == [file])
    }

    @Test(.enabled(if: isRoot)) func aStoreInUseDoesNotKeepItsFileSystemMounted() async throws {
        try #require(try run("mount", "-t", "tmpfs", "tmpfs", scratch.root) == 0)
        let store = try DirectoryStore(path: scratch.root)
        try await store.make("folder")
        let file = try await store.make("file", "text")
        _ = try await store.all()
        let unmounted = try run("umount", scratch.root) == 0
        if !unmounted { try run("umount", "-l", scratch.root) }
        #expect(unmounted)
        await expectFailure("serverUnreachable") { _ = try await store.item(file.identifier) }
    }

    @Test(.enabled(if: isRoot)) func aFullDiskIsInsufficientQuotaAndDamagesNothing() async throws {
        try #require(try run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", scratch.root) == 0)
        let path = scratch.root
        defer { #expect(throws: Never.self) { try run("umount", path) } }
        let store = try DirectoryStore(path: scratch.root)
        let file = try await store.make("file", "text")
        let large = String(repeating: "x", count: 2 << 20)
        await expectFailure("insufficientQuota") { try await store.make("large", large) }
        await expectFailure("insufficientQuota") { try await store.rewrite(file, large) }
        #expect(try await store.text(file) == "text")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.root) == ["file"])
        try await store.rewrite(file, "there is room for this")
    }

    @Test(.enabled(if: isRoot)) func anImmutableFolderIsItsOwnTrouble() async throws {
        let store = try DirectoryStore(path: scratch.root)
        try #require(try run("chattr", "+i", scratch.root) == 0)
        defer { #expect(throws: Never.self) { try run("chattr", "-i", scratch.root) } }
        await expectFailure("itemUnavailable") { try await store.make("new", "text") }
    }

    @Test(.enabled(if: isRoot)) func aReadOnlyDiskSaysWhy() async throws {
        try #require(try run("mount", "-t", "tmpfs", "tmpfs", scratch.root) == 0)
        let path = scratch.root
        defer { #expect(throws: Never.self) { try run("umount", path) } }
        let store = try DirectoryStore(path: scratch.root)
        let file = try await store.make("file", "text")
        try #require(try run("mount", "-o", "remount,ro", scratch.root) == 0)
        await expectFailure("readOnly") { try await store.make("new", "text") }
        await expectFailure("readOnly") { try await store.rewrite(file, "new") }
        await expectFailure("readOnly") {
            try await store.deleteItem(file.identifier, base: file.version)
        }
        #expect(try await store.text(file) == "text")
        try #require(try run("mount", "-o", "remount,rw", scratch.root) == 0)
        try await store.rewrite(file, "new")
    }
}
