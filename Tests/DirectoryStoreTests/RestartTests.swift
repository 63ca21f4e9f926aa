import Foundation
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// A store that begins anew on a directory it has served before.
@Suite(.serialized) struct RestartTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test func anchorsOfAnEarlierProcessHaveExpired() async throws {
        let anchor = try await DirectoryStore(path: scratch.root).currentAnchor()
        let store = try DirectoryStore(path: scratch.root)
        await expectFailure("syncAnchorExpired") { _ = try await store.enumerateChanges(from: anchor) }
    }

    @Test func identifiersAndVersionsSurviveARestart() async throws {
        let first = try DirectoryStore(path: scratch.root)
        let folder = try await first.make("folder")
        try await first.make("file", "text", in: folder.identifier)
        let before = try await first.all() + first.all(in: folder.identifier)
        let second = try DirectoryStore(path: scratch.root)
        let after = try await second.all() + second.all(in: folder.identifier)
        #expect(before.map(\.identifier) == after.map(\.identifier))
        #expect(before.map(\.version) == after.map(\.version))
    }

    @Test func itemsAreFoundWithoutAListing() async throws {
        let first = try DirectoryStore(path: scratch.root)
        let folder = try await first.make("folder")
        let inner = try await first.make("inner", in: folder.identifier)
        let file = try await first.make("file", "text", in: inner.identifier)
        let store = try DirectoryStore(path: scratch.root)
        let changed = try await store.rewrite(file, "changed")
        #expect(try await store.text(changed) == "changed")
        try await store.make("second", "text", in: inner.identifier)
        try await store.deleteItem(changed.identifier, base: changed.version)
        #expect(try await store.all(in: inner.identifier).map(\.filename) == [FileName("second")])
    }

    @Test func remainsOfADeadDaemonDoNotBlockARemoval() async throws {
        let store = try DirectoryStore(path: scratch.root)
        let folder = try await store.make("folder")
        try Data("half".utf8).write(to: URL(filePath: "\(scratch.root)/folder/.replica-tmp-0123456789abcdef-1"))
        try await store.deleteItem(folder.identifier, base: folder.version)
        #expect(try await store.all().isEmpty)
    }

    @Test func anItemMovedDuringTheStopIsFound() async throws {
        let first = try DirectoryStore(path: scratch.root)
        let folder = try await first.make("folder")
        let file = try await first.make("file", "text")
        try await ShellClient(root: scratch.root).move("file", to: "folder/elsewhere")
        let store = try DirectoryStore(path: scratch.root)
        let found = try await store.item(file.identifier)
        #expect(found.parent == folder.identifier)
        #expect(found.filename == FileName("elsewhere"))
    }

    @Test func createdItemsAreFoundByTemplate() async throws {
        let first = try DirectoryStore(path: scratch.root)
        let file = try await first.make("file", "text")
        let changed = try await first.rewrite(file, "changed by the next call")
        let template = ItemTemplate(
            identifier: ItemIdentifier("template of file"), parent: .root, filename: FileName("file"), kind: .file)
        let store = try DirectoryStore(path: scratch.root)
        #expect(try await store.itemCreated(from: template)?.identifier == changed.identifier)
    }

    @Test func oldTemporaryFilesAreRemoved() async throws {
        _ = try DirectoryStore(path: scratch.root)
        let left = "\(scratch.root)/.replica-tmp-left"
        try FileManager.default.createDirectory(atPath: "\(left)/inner", withIntermediateDirectories: true)
        let careful = try DirectoryStore(path: scratch.root)
        #expect(try await careful.all().isEmpty)
        #expect(FileManager.default.fileExists(atPath: left))
        let store = try DirectoryStore(path: scratch.root, temporaryLife: .zero)
        #expect(try await store.all().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test func noTemporaryFileIsLeft() async throws {
        let store = try DirectoryStore(path: scratch.root)
        let file = try await store.make("file", "text")
        let changed = try await store.rewrite(file, "changed")
        try await store.make("folder")
        await expectFailure("filenameCollision") { try await store.make("file", "again") }
        await expectFailure("versionConflict") { try await store.rewrite(self.stale(changed), "stale") }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.root).sorted()
        #expect(names == ["file", "folder"])
    }

    private func stale(_ item: Item) -> Item {
        var item = item
        item.version.content = "stale"
        return item
    }

    /// Of a process that has ended it is taken away at once; of another machine, or a process that lives, it stays.
    @Test func remainsOfADeadProcessAreRemovedAtOnce() async throws {
        _ = try DirectoryStore(path: scratch.root)
        let own = TemporaryName.make().description.split(separator: "-", omittingEmptySubsequences: false)
        #expect(own.count == 7)
        // `.replica`, `tmp`, boot, namespace, process, start, number.
        func name(_ change: (inout [Substring]) -> Void) -> String {
            var parts = own
            parts[6] = "77"
            change(&parts)
            return parts.joined(separator: "-")
        }
        let dead = name { $0[5] = "1" }
        let others = [
            name { $0[2] = "0123456789abcdef" }, name { ($0[3], $0[5]) = ("1", "1") }, name { $0[5] = own[5] },
            ".replica-tmp-left", ".replica-tmp-0123456789abcdef-1",
        ]
        for name in [dead] + others { try Data("half".utf8).write(to: URL(filePath: "\(scratch.root)/\(name)")) }
        let store = try DirectoryStore(path: scratch.root)
        _ = try await store.enumerateItems(in: .root, from: nil)
        #expect(!FileManager.default.fileExists(atPath: "\(scratch.root)/\(dead)"))
        for name in others { #expect(FileManager.default.fileExists(atPath: "\(scratch.root)/\(name)"), "\(name)") }
    }

    /// Nobody may ever reap it (a container's first process often doesn't).
    @Test func remainsOfAZombieAreRemovedAtOnce() async throws {
        var child = pid_t()
        try #require(posix_spawn(&child, "/bin/true", nil, nil, [strdup("true"), nil], nil) == 0)
        defer { waitpid(child, nil, 0) }
        var ended = siginfo_t()
        try #require(waitid(P_PID, id_t(child), &ended, WEXITED | WNOWAIT) == 0)
        let line = try String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8).split(separator: " ")
        #expect(line[2] == "Z")
        var parts = TemporaryName.make().description.split(separator: "-", omittingEmptySubsequences: false)
        parts[4] = Substring(String(child))
        parts[5] = line[21]
        let left = "\(scratch.root)/\(parts.joined(separator: "-"))"
        let store = try DirectoryStore(path: scratch.root)
        try Data("half".utf8).write(to: URL(filePath: left))
        #expect(try await store.all().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: left))
    }
}
