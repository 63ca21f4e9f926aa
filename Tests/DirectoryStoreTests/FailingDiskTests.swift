import Foundation
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// Directories that are missing, full or inaccessible.
@Suite(.serialized) struct FailingDiskTests {
    static let isRoot = geteuid() == 0
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test func createMakesTheDirectoryButNotItsParents() async throws {
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

    @Test func aMissingRootIsUnreachableUntilItIsBack() async throws {
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

    /// An empty disk in the place of a full one is not a deletion: the user has to confirm it.
    @Test func aReplacedRootDeletesNothing() async throws {
        let store = try DirectoryStore(path: scratch.root)
        try await store.make("file", "text")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        try replaceRoot()
        await expectFailure("cannotSynchronize") { _ = try await store.enumerateChanges(from: anchor) }
        let restarted = try DirectoryStore(path: scratch.root)
        await expectFailure("cannotSynchronize") { _ = try await restarted.enumerateChanges(from: anchor) }
    }

    @Test func noCallReachesAReplacedRoot() async throws {
        let store = try DirectoryStore(path: scratch.root)
        let file = try await store.make("file", "text")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        try replaceRoot()
        await expectFailure("serverUnreachable") { try await store.make("new", "text") }
        await expectFailure("serverUnreachable") { try await store.make("folder") }
        await expectFailure("serverUnreachable") { _ = try await store.item(file.identifier) }
        await expectFailure("serverUnreachable") { _ = try await store.all() }
        await expectFailure("serverUnreachable") {
            try await store.deleteItem(file.identifier, base: file.version)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.root).isEmpty)
        // It was not reported yet that it is another one.
        await expectFailure("cannotSynchronize") { _ = try await store.currentAnchor() }
        await expectFailure("cannotSynchronize") { try await store.recognize(anchor) }
        _ = try await store.currentAnchor()
        try await store.make("new", "text")
        #expect(try await store.all().map(\.filename) == [FileName("new")])
    }

    @Test func noCallReachesAReplacedRootAfterARestart() async throws {
        let store = try DirectoryStore(path: scratch.root)
        let file = try await store.make("file", "text")
        let anchor = try await store.currentAnchor()
        try replaceRoot()
        let restarted = try DirectoryStore(path: scratch.root)
        await expectFailure("cannotSynchronize") { try await restarted.recognize(anchor) }
        await expectFailure("serverUnreachable") { try await restarted.make("new", "text") }
        // A former directory does not count if the right one came back in between.
        try returnRoot()
        try await restarted.recognize(anchor)
        #expect(try await restarted.item(file.identifier).version == file.version)
        try replaceRoot()
        await expectFailure("cannotSynchronize") { _ = try await restarted.currentAnchor() }
        try returnRoot()
        await expectFailure("syncAnchorExpired") { _ = try await restarted.enumerateChanges(from: anchor) }
    }

    @Test(.enabled(if: isRoot)) func aDiskWithANewDeviceNumberIsRecognized() async throws {
        let images = ["\(scratch.path)/image", "\(scratch.path)/other"]
        let (disk, path) = (scratch.root, "\(scratch.root)/store")
        func mount(_ image: String) throws { try #require(try run("mount", "-o", "loop", image, disk) == 0) }
        defer { while (try? run("umount", disk)) == 0 {} }
        for image in images {
            try #require(try run("truncate", "-s", "16M", image) == 0)
            try #require(try run("mkfs.ext4", "-q", "-F", "-I", "256", image) == 0)
            try mount(image)
            try DirectoryStore.makeDirectory(path, mode: 0o700)
            try #require(try run("umount", disk) == 0)
        }
        try mount(images[0])
        let store = try DirectoryStore(path: path)
        let file = try await store.make("file", "text")
        try #require(try run("umount", disk) == 0)
        await expectFailure("serverUnreachable") { _ = try await store.item(file.identifier) }
        // It takes the number that the first one had.
        try mount(images[1])
        await expectFailure("serverUnreachable") { _ = try await store.item(file.identifier) }
        try mount(images[0])
        #expect(try await store.item(file.identifier).version == file.version)
    }

    /// Replaces the store's directory by an empty one.
    private func replaceRoot() throws {
        try #require(rename(scratch.root, "\(scratch.path)/old") == 0)
        try #require(mkdir(scratch.root, 0o755) == 0)
    }

    private func returnRoot() throws {
        try #require(rmdir(scratch.root) == 0)
        try #require(rename("\(scratch.path)/old", scratch.root) == 0)
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

    @Test(.enabled(if: isRoot)) func anImmutableFolderFailsOnlyItsItems() async throws {
        let store = try DirectoryStore(path: scratch.root)
        try #require(try run("chattr", "+i", scratch.root) == 0)
        defer { #expect(throws: Never.self) { try run("chattr", "-i", scratch.root) } }
        await expectFailure("itemUnavailable") { try await store.make("new", "text") }
    }

    @Test(.enabled(if: isRoot)) func aReadOnlyDiskIsReported() async throws {
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
