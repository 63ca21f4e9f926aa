import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// The store's capabilities, enforced for programs.
@Suite struct CapabilityTests {
    /// A file, a folder with a file, and another folder.
    private func bench(without missing: Capabilities, of path: String, enforcing: Bool = true) async throws -> Bench {
        let store = MemoryStore()
        store.keepsTrash = true
        let bench = try Bench(store: store, enforcing: enforcing)
        for folder in ["d", "e", ".Trash-1", ".Trash-1/files"] { try bench.makeFolder(folder) }
        for file in ["x", "d/y"] { try bench.write(file, to: file) }
        try await bench.settle()
        store.allow(.all.subtracting(missing), of: path)
        try await bench.settle()
        store.clearCalls()
        return bench
    }

    /// One call of a program.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let missing: Capabilities
        let path: String
        /// Nil: nothing forbids it.
        let errno: Errno?
        let act: @Sendable (Bench) throws -> Void

        init(
            _ text: String, without missing: Capabilities, of path: String, is errno: Errno?,
            _ act: @escaping @Sendable (Bench) throws -> Void
        ) {
            (testDescription, self.missing, self.path, self.errno, self.act) = (text, missing, path, errno, act)
        }
    }

    static let changes: [Change] = [
        Change("truncate", without: .writing, of: "x", is: .permissionDenied) {
            try $0.setAttributes(of: "x") { $0.size = 0 }
        },
        Change("overwrite", without: .writing, of: "x", is: .permissionDenied) { try $0.write("new", to: "x") },
        Change("read", without: .reading, of: "x", is: .permissionDenied) {
            _ = try $0.replica.open(try $0.number("x"), flags: O_RDONLY)
        },
        Change("list", without: .reading, of: "d", is: .permissionDenied) {
            _ = try $0.replica.entries(of: try $0.number("d"))
        },
        Change("chmod", without: .writing, of: "x", is: .notPermitted) {
            try $0.setAttributes(of: "x") { $0.mode = 0o600 }
        },
        Change("touch", without: .writing, of: "x", is: .notPermitted) {
            try $0.setAttributes(of: "x") { $0.modified = .now }
        },
        Change("set an attribute", without: .writing, of: "x", is: .notPermitted) {
            try $0.setXattr("user.note", "new", of: "x")
        },
        Change("tag", without: .writing, of: "x", is: nil) { try $0.setXattr("user.xdg.tags", "red", of: "x") },
        Change("create", without: .writing, of: "d", is: .permissionDenied) { try $0.write("new", to: "d/new") },
        Change("symlink", without: .writing, of: "d", is: .permissionDenied) { try $0.makeSymlink("d/s", to: "x") },
        Change("link", without: .writing, of: "d", is: .permissionDenied) {
            _ = try $0.replica.link(try $0.number("x"), as: FileName("l"), in: try $0.number("d"))
        },
        Change("move in", without: .writing, of: "d", is: .permissionDenied) { try $0.rename("x", to: "d/x") },
        Change("move out", without: .writing, of: "d", is: nil) { try $0.rename("d/y", to: "y") },
        Change("edit inside", without: .writing, of: "d", is: nil) { try $0.write("new", to: "d/y") },
        Change("unlink", without: .deleting, of: "x", is: .notPermitted) { try $0.remove("x") },
        Change("rmdir", without: .deleting, of: "e", is: .notPermitted) { try $0.remove("e", isFolder: true) },
        Change("remove from", without: .deleting, of: "d", is: nil) { try $0.remove("d/y") },
        Change("rename", without: .renaming, of: "x", is: .notPermitted) { try $0.rename("x", to: "z") },
        Change("move, not renamed", without: .renaming, of: "x", is: nil) { try $0.rename("x", to: "d/x") },
        Change("move", without: .reparenting, of: "x", is: .notPermitted) { try $0.rename("x", to: "d/x") },
        Change("rename, not moved", without: .reparenting, of: "x", is: nil) { try $0.rename("x", to: "z") },
        Change("exchange", without: .reparenting, of: "d/y", is: .notPermitted) {
            try $0.rename("x", to: "d/y", .exchange)
        },
        Change("save over", without: .writing, of: "x", is: .notPermitted) { try $0.rename("d/y", to: "x") },
        Change("save over what is not deleted", without: .deleting, of: "x", is: nil) { try $0.rename("d/y", to: "x") },
        Change("replace a folder", without: .deleting, of: "e", is: .notPermitted) { try $0.rename("d", to: "e") },
        Change("trash", without: .trashing, of: "x", is: .notPermitted) { try $0.rename("x", to: ".Trash-1/files/x") },
        Change("trash what does not move", without: [.reparenting, .renaming], of: "x", is: nil) {
            try $0.rename("x", to: ".Trash-1/files/x 2")
        },
    ]

    @Test(arguments: changes) func forbiddenChangesAreRefused(change: Change) async throws {
        let bench = try await bench(without: change.missing, of: change.path)
        let before = try FileManager.default.subpathsOfDirectory(atPath: bench.folders.tree.string)
        if let errno = change.errno {
            #expect(throws: ReplicaError.errno(errno)) { try change.act(bench) }
            #expect(try FileManager.default.subpathsOfDirectory(atPath: bench.folders.tree.string) == before)
            try await bench.settle()
            #expect(bench.store.calls(of: .modifyItem).isEmpty && bench.store.calls(of: .createItem).isEmpty)
        } else {
            try change.act(bench)
        }
    }

    /// Without enforcement all calls succeed and are sent to the store.
    @Test(arguments: changes) func withoutEnforcementNothingIsRefused(change: Change) async throws {
        let bench = try await bench(without: change.missing, of: change.path, enforcing: false)
        try change.act(bench)
    }

    @Test func changesOfTheStoreAreNeverRefused() async throws {
        let bench = try await bench(without: [.writing, .renaming, .reparenting, .deleting], of: "x")
        bench.store.write("theirs", to: "x")
        bench.store.move("x", to: "d/z")
        try await bench.settle()
        #expect(try await bench.read("d/z") == "theirs")
        #expect(try bench.status("d/z").st_mode & 0o777 == 0o644)
        bench.store.delete("d/z")
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == [".Trash-1/", ".Trash-1/files/", "d/", "d/y", "e/"])
    }
}
