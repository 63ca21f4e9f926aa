import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// A user who writes directly to the backing tree replaces an item's file, like a program that saves. The new file is
/// not lost, regardless of what happens next.
@Suite struct ReplacedBelowTests {
    private static func bench() async throws -> Bench {
        let bench = try Bench()
        bench.store.write("known", to: "f")
        try await bench.settle()
        #expect(try await bench.read("f") == "known")
        try await bench.settle()
        return bench
    }

    private static func replace(_ bench: Bench) throws {
        let path = bench.folders.tree.string + "/f"
        try Data("theirs, and longer".utf8).write(to: URL(filePath: path + "~"))
        #expect(rename(path + "~", path) == 0)
    }

    /// Whether the bytes exist anywhere.
    private static func isSomewhere(_ bench: Bench) throws -> Bool {
        let text = "theirs, and longer"
        if try bench.tree().values.contains(text) { return true }
        if bench.store.entries.values.contains(where: { $0.content == Array(text.utf8) }) { return true }
        return try FileManager.default.contentsOfDirectory(atPath: bench.folders.kept.string).contains {
            try String(contentsOfFile: bench.folders.kept.appending($0).string, encoding: .utf8) == text
        }
    }

    @Test func anEvictionIsRefused() async throws {
        let bench = try await Self.bench()
        try Self.replace(bench)
        let number = try bench.replica.entries(of: .root)[0].number
        #expect(throws: EvictionRefusal.unsyncedEdits) { try bench.replica.evictFile(number) }
        try await bench.settle()
        #expect(bench.store.text(at: "f") == "theirs, and longer")
    }

    @Test func aDeletionKeepsAReplacedFile() async throws {
        let bench = try await Self.bench()
        try Self.replace(bench)
        bench.store.delete("f")
        try await bench.settle()
        #expect(try Self.isSomewhere(bench))
    }

    /// A write below the mount between the last check and the removal is preserved too.
    @Test func lastMomentWritesAreKept() async throws {
        let bench = try await Self.bench()
        let number = try bench.number("f")
        let (node, place) = try bench.replica.withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[number] else { throw .errno(.noSuchFileOrDirectory) }
            return (node, try tree.place(of: node))
        }
        let seen = try place.status()
        try Data("theirs, and longer".utf8).write(to: URL(filePath: bench.folders.tree.string + "/f"), options: [])
        try place.discard(seen, of: node, bench.folders)
        #expect(try Self.isSomewhere(bench))
    }

    /// The size and the times of the item's own file make it no other.
    @Test(arguments: [true, false]) func aReplacedFileWithTheSameFingerprintIsKept(isDeleted: Bool) async throws {
        let bench = try await Self.bench()
        let path = bench.folders.tree.string + "/f"
        var own = stat()
        #expect(stat(path, &own) == 0)
        try Data("their".utf8).write(to: URL(filePath: path + "~"))
        #expect(utimensat(AT_FDCWD, path + "~", [own.st_atim, own.st_mtim], 0) == 0)
        #expect(rename(path + "~", path) == 0)
        if isDeleted { bench.store.delete("f") } else { bench.store.write("new", to: "f") }
        try await bench.settle()
        let kept = try FileManager.default.contentsOfDirectory(atPath: bench.folders.kept.string)
        #expect(
            try kept.map { try String(contentsOfFile: "\(bench.folders.kept)/\($0)", encoding: .utf8) } == ["their"])
        #expect(try bench.tree() == (isDeleted ? [:] : ["f": "new"]))
    }

    @Test func newContentDoesNotOverwriteAReplacedFile() async throws {
        let bench = try await Self.bench()
        try Self.replace(bench)
        bench.store.write("new", to: "f")
        try await bench.settle()
        #expect(try Self.isSomewhere(bench))
        #expect(try await bench.read("f") == "new")
    }
}
