import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Seeds A and B, "see also": what a domain's owner can ask for.
@Suite struct DomainStatementTests {
    /// Runs `body` with a folder that is gone afterwards.
    private func inFolder(_ body: (String) throws -> Void) throws {
        var path = Array("/var/tmp/replica-statements-\(getpid())-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else { throw Errno(rawValue: errno) }
        let folder = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // What can't be removed is in /var/tmp.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test func statement18_anImportReturnsOrThrowsNeverBoth() throws {
        try inFolder { folder in
            try FileTree.make(folder + "/good", ["x": "one"])
            try FileTree.make(folder, ["file": "no directory"])
            let outcomes = ["good", "file", "missing", "good"].map { name -> (Errno?, Bool) in
                let state = FilePath(folder + "/state of \(name)")
                do throws(Errno) {
                    try StateFolders(root: state).importDomain(from: FilePath(folder + "/" + name))
                    return (nil, access(state.string + "/tree/x", F_OK) == 0)
                } catch {
                    return (error, access(folder + "/" + name + "/x", F_OK) == 0)
                }
            }
            #expect(outcomes.map(\.0) == [nil, .notDirectory, .noSuchFileOrDirectory, .noSuchFileOrDirectory])
            #expect(outcomes.map(\.1) == [true, false, false, false])
        }
    }

    @Test func statement23_allDomainsCanBeRemoved() throws {
        try inFolder { folder in
            for name in ["one", "two"] {
                let folders = StateFolders(root: FilePath(folder + "/" + name))
                try folders.makeDomain()
                try "unsent".write(toFile: folders.tree.string + "/x", atomically: false, encoding: .utf8)
            }
            for name in ["one", "two"] {
                let removal = try StateFolders(root: FilePath(folder + "/" + name)).remove(keep: .nothing, name: name)
                #expect(removal.preserved == nil)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    /// A program asks for it by setting what is set already, as touch(1) and chmod(1) do.
    @Test func statement41_aModificationCanBeRequestedOfFields() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        let status = try bench.status("x")
        try bench.setAttributes(of: "x") { change in
            change.mode = UInt16(status.st_mode & 0o7777)
            change.modified = .to(
                Timestamp(seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec)))
        }
        try await bench.settle()
        let fields = bench.store.calls(of: .modifyItem).map(\.fields)
        #expect(fields.count == 1)
        #expect(fields.first?.isSuperset(of: [.mode, .modificationDate]) == true)
    }

    /// A trash by the freedesktop rules is a folder like others: what goes there keeps its identifier.
    @Test func statement65_theTrashIsAMoveThereAndBack() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("one", to: "d/x")
        try bench.makeFolder(".Trash-1000")
        try bench.makeFolder(".Trash-1000/files")
        try await bench.settle()
        let identifier = bench.store.item(at: "d/x")?.identifier
        try bench.rename("d/x", to: ".Trash-1000/files/x")
        try await bench.settle()
        #expect(bench.store.item(at: ".Trash-1000/files/x")?.identifier == identifier)
        try bench.rename(".Trash-1000/files/x", to: "d/x")
        try await bench.settle()
        #expect(bench.store.item(at: "d/x")?.identifier == identifier)
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.parent, .parent])
        #expect(
            bench.store.calls(of: .modifyItem).map(\.template?.parent) == [
                bench.store.item(at: ".Trash-1000/files")?.identifier, bench.store.item(at: "d")?.identifier,
            ])
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }
}
