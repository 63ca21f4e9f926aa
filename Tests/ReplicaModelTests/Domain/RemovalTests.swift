import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Removing a domain (statements 22 and 37).
@Suite struct RemovalTests {
    /// A domain with files that are in sync, dirty, dataless and local only.
    private func withTree(_ body: (DomainBench) async throws -> Void) async throws {
        let store = MemoryStore()
        store.write("cold", to: "d/cold")
        store.write("base", to: "d/edited")
        try await DomainBench.run(store: store) { bench in
            try await bench.settle()
            #expect(try await bench.read("d/edited") == "base")
            try await bench.makeFolder("clean")
            try await bench.write("in step", to: "clean/file")
            try await bench.settle()
            try bench.domain.disconnect(reason: "test")
            try await bench.write("unsent edit", to: "d/edited")
            try await bench.makeFolder("new")
            try await bench.write("unsent", to: "new/file")
            try await body(bench)
        }
    }

    /// The files below a folder, by path, with their texts.
    private func files(_ folder: FilePath?) throws -> [String: String] {
        guard let folder else { return [:] }
        var found: [String: String] = [:]
        for case let path as String in FileManager.default.enumerator(atPath: folder.string) ?? .init() {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: folder.string + "/" + path, isDirectory: &isFolder)
            found[path] =
                isFolder.boolValue
                ? "/" : try String(contentsOfFile: folder.string + "/" + path, encoding: .utf8)
        }
        return found
    }

    private func expectGone(_ bench: DomainBench) throws {
        let left = try FileManager.default.contentsOfDirectory(atPath: bench.folder.string)
        #expect(!left.contains("state"))
        #expect(!left.contains { $0.hasPrefix(".") })
    }

    @Test func statement22_unsentFilesArePreserved() async throws {
        try await withTree { bench in
            let removal = try await bench.domain.remove(keep: .dirty, name: "photos")
            #expect(removal.files == 2)
            #expect(removal.preserved?.lastComponent?.string.hasPrefix("photos preserved 2") == true)
            #expect(
                try files(removal.preserved) == [
                    "d": "/", "d/edited": "unsent edit", "new": "/", "new/file": "unsent",
                ])
            try expectGone(bench)
        }
    }

    @Test func statement22_downloadedFilesArePreserved() async throws {
        try await withTree { bench in
            let removal = try await bench.domain.remove(keep: .downloaded, name: "photos")
            #expect(removal.files == 3)
            #expect(
                try files(removal.preserved) == [
                    "clean": "/", "clean/file": "in step", "d": "/", "d/edited": "unsent edit", "new": "/",
                    "new/file": "unsent",
                ])
            try expectGone(bench)
        }
    }

    @Test func statement22_nothingIsPreservedUnlessRequested() async throws {
        try await withTree { bench in
            let removal = try await bench.domain.remove(keep: .nothing, name: "photos")
            #expect(removal == Removal())
            try expectGone(bench)
        }
    }

    @Test func statement37_aRecreatedDomainIsDataless() async throws {
        try await withTree { bench in
            _ = try await bench.domain.remove(keep: .nothing, name: "photos")
            try bench.folders.makeDomain()
            try await bench.restart()
            try await bench.settle()
            #expect(try await bench.item("clean").materialization == .dataless)
            #expect(try await bench.item("clean/file").materialization == .dataless)
            #expect(try await bench.read("d/edited") == "base")
            #expect(!bench.exists("new"))
        }
    }

    @Test func preservedFoldersKeepTheirAttributes() async throws {
        try await withTree { bench in
            try await bench.setXattr("user.color", "red", of: "new")
            let removal = try await bench.domain.remove(keep: .dirty, name: "photos")
            let folder = try #require(removal.preserved).appending("new")
            let value = try BackingPath(folder: AT_FDCWD, name: FileName(folder.string)).xattr("user.color")
            #expect(String(decoding: value, as: UTF8.self) == "red")
        }
    }

    @Test func aDomainWithoutADaemonIsRemoved() async throws {
        try await withTree { bench in
            try await bench.domain.stop()
            let removal = try bench.folders.remove(keep: .dirty, name: "photos")
            #expect(removal.files == 2)
            try expectGone(bench)
        }
    }

    @Test func aServedDomainIsNotRemovedByAnotherProcess() async throws {
        try await withTree { bench in
            #expect(throws: Errno.resourceBusy) { try bench.folders.remove(keep: .nothing, name: "photos") }
            let found = try await bench.read("clean/file")
            #expect(found == "in step")
        }
    }

    @Test func nothingToPreserveLeavesNoFolder() async throws {
        try await DomainBench.run { bench in
            try await bench.write("text", to: "f")
            try await bench.settle()
            let removal = try await bench.domain.remove(keep: .dirty, name: "photos")
            #expect(removal == Removal())
            let left = try FileManager.default.contentsOfDirectory(atPath: bench.folder.string)
            #expect(left.isEmpty)
        }
    }
}
