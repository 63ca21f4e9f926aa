import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// A state that was moved to another disk or restored from a backup: cp and tar keep what rsync keeps only on request.
@Suite struct CopiedTreeTests {
    private static let copies = [
        #"mkdir "$2" && cp -a "$1/." "$2/""#, #"rsync -aXS "$1/" "$2/""#, #"rsync -aX "$1/" "$2/""#,
        #"rsync -a "$1/" "$2/""#,
        #"rsync -rltS "$1/" "$2/""#, #"mkdir "$2" && tar -C "$1" -cf - . | tar -C "$2" -xf -"#,
    ]

    /// A file that is here, one that was evicted, and one that never was here.
    private func makeBench() async throws -> Bench {
        let bench = try Bench()
        bench.store.write("absent", to: "d/absent")
        try await bench.settle()
        try bench.makeFolder("own")
        for name in ["here", "evicted", "edited"] { try bench.write(name, to: "own/\(name)") }
        try await bench.settle()
        try await bench.engine.makeDurable()
        #expect(try bench.replica.evictFile(try bench.number("own/evicted")) == 7)
        _ = try await bench.find("d/absent")
        return bench
    }

    private func copyTree(of bench: Bench, by command: String) throws {
        let tree = bench.folders.tree.string
        let copy = Process()
        copy.executableURL = URL(filePath: "/bin/sh")
        copy.arguments = ["-c", #"mv "$2" "$1" && "# + command, "sh", tree + ".old", tree]
        try copy.run()
        copy.waitUntilExit()
        #expect(copy.terminationStatus == 0)
    }

    @Test(arguments: copies) func aCopiedTreeIsRecognized(_ command: String) async throws {
        let bench = try await makeBench()
        let before = bench.store.entries.keys.sorted()
        try bench.replica.close()
        try copyTree(of: bench, by: command)
        bench.store.clearCalls()
        try bench.crash()
        try await bench.settle()
        for method in [StoreMethod.createItem, .modifyItem, .deleteItem, .fetchContents] {
            #expect(bench.store.calls(of: method).isEmpty, "\(method)")
        }
        #expect(bench.store.entries.keys.sorted() == before)
        for path in ["own/here", "own/evicted", "d/absent"] {
            #expect(try await bench.read(path) == FilePath(path).lastComponent?.string)
        }
    }

    /// What was never here is no edit of zeros, whatever the store has done with it.
    @Test(arguments: copies) func itemsRemovedOrMovedInTheStoreAreNotRecreated(_ command: String) async throws {
        let bench = try await makeBench()
        try bench.replica.close()
        try copyTree(of: bench, by: command)
        bench.store.delete("own/evicted")
        bench.store.move("d", to: "e")
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["e", "e/absent", "own", "own/edited", "own/here"])
        #expect(try bench.tree().keys.sorted() == ["e/", "e/absent", "own/", "own/edited", "own/here"])
        #expect(try await bench.read("e/absent") == "absent")
    }

    /// A backup of a domain that is being served: the eviction is not recorded yet.
    @Test(arguments: copies) func justEvictedFilesAreDataless(_ command: String) async throws {
        let bench = try await makeBench()
        try bench.replica.record()
        #expect(try bench.replica.evictFile(try bench.number("own/here")) == 4)
        try copyTree(of: bench, by: command)
        try bench.crash()
        try await bench.settle()
        #expect(try await bench.read("own/here") == "here")
        #expect(bench.store.entries.keys.sorted() == ["d", "d/absent", "own", "own/edited", "own/evicted", "own/here"])
    }

    /// An edit that was not sent before the copy is sent after it.
    @Test(arguments: copies) func editsAreStillSent(_ command: String) async throws {
        let bench = try await makeBench()
        try bench.write("edited offline", to: "own/edited")
        try bench.replica.close()
        try copyTree(of: bench, by: command)
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.text(at: "own/edited") == "edited offline")
        #expect(try bench.tree().keys.sorted() == ["d/", "d/absent", "own/", "own/edited", "own/evicted", "own/here"])
    }
}
