import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import DirectoryStore

/// New files are created without a name where the filesystem allows it, and under a temporary one elsewhere.
@Suite struct UnnamedDraftTests {
    private let scratch: Scratch
    private let store: DirectoryStore

    init() throws {
        scratch = try Scratch()
        store = try DirectoryStore(path: scratch.root)
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: scratch.root) }

    /// The names in the folder while `name` is created.
    private func namesDuringCreate(of name: String) async throws -> [String] {
        let seen = Locked<[String]>([])
        let item = try await store.make(name, "text") {
            let found = try? FileManager.default.contentsOfDirectory(atPath: scratch.root)  // Fails the expectation.
            seen.withLock { $0 = found ?? ["unreadable"] }
        }
        #expect(try await store.child(name) == item)
        #expect(try await store.text(item) == "text")
        return seen.withLock { $0 }
    }

    @Test func aNewFileHasNoTemporaryName() async throws {
        #expect(try await namesDuringCreate(of: "a").isEmpty)
        #expect(try names() == ["a"])
    }

    @Test func aTemporaryNameIsUsedWhereFilesNeedOne() async throws {
        store.tree.canNameLater.withLock { $0 = false }
        let names = try await namesDuringCreate(of: "a")
        #expect(names.count == 1 && names.allSatisfy { $0.hasPrefix(".replica-tmp-") })
        #expect(try self.names() == ["a"])
    }

    /// sysfs has no such files; a folder that is gone proves nothing.
    @Test func missingSupportForUnnamedFilesIsRemembered() throws {
        let gone = try SystemCalls.open(path: scratch.root, O_RDONLY | O_DIRECTORY)
        try FileManager.default.removeItem(atPath: scratch.root)
        #expect(!store.tree.namesLater(in: gone))
        #expect(store.tree.canNameLater.withLock { $0 } == nil)
        let other = try SystemCalls.open(path: "/sys", O_RDONLY | O_DIRECTORY)
        #expect(!store.tree.namesLater(in: other))
        #expect(store.tree.canNameLater.withLock { $0 } == false)
    }

    @Test func aNameTakenDuringTheWriteIsKept() async throws {
        let (root, path) = (scratch.root, "\(scratch.root)/a")
        await expectFailure("filenameCollision") {
            try await store.make("a", "ours") {
                close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0o644))
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: root) == ["a"])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 0)
    }

    /// ext4 answers EPERM for a file without a name there.
    @Test func aFolderRemovedBeforeTheWriteIsReported() async throws {
        let folder = try await store.make("folder")
        try await store.make("a", "text", in: folder.identifier)
        let open = try store.tree.openFolder(folder.identifier)
        try FileManager.default.removeItem(atPath: "\(scratch.root)/folder")
        #expect(throws: RemoteStoreError.noSuchItem(folder.identifier)) {
            try store.tree.draftFile(nil, in: open, isNamed: false, CancellationFlag()) { _ in [] }
        }
    }

    @Test func aFolderRemovedDuringTheWriteIsNotACollision() async throws {
        let folder = try await store.make("folder")
        let path = "\(scratch.root)/folder"
        await expectFailure("serverUnreachable") {
            try await store.make("a", "text", in: folder.identifier) { rmdir(path) }
        }
        await expectFailure("noSuchItem") { try await store.make("a", "text", in: folder.identifier) }
    }

    /// An access list of the folder, which every new file gets.
    @Test func aNewFileInheritsFromItsFolder() async throws {
        try #require(try run("setfacl", "-d", "-m", "u:daemon:rwx", scratch.root) == 0)
        var metadata = ItemMetadata()
        metadata.mode = 0o664
        try await store.make("a", "text", fields: .place.union(.mode), metadata: metadata)
        #expect(try run("sh", "-c", "getfacl -cpn '\(scratch.root)/a' | grep -q '^user:1:rwx'") == 0)
    }
}
