import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// A user who may rename in the backing tree exchanges one of their own items with one of root's, and back. What was
/// remembered of the one is not used for the other.
@Suite struct ExchangedBelowTests {
    private let bench: Bench
    private var tree: String { bench.folders.tree.string }

    init() throws {
        bench = try Bench()
    }

    private func exchange(_ left: String, _ right: String) {
        for (from, to) in [(left, ".passing"), (right, left), (".passing", right)] {
            #expect(rename("\(tree)/\(from)", "\(tree)/\(to)") == 0)
        }
    }

    private func known(_ name: String) throws -> KernelItem {
        let entry = try bench.replica.lookup(FileName(name), in: .root)
        return KernelItem(entry.number, generation: entry.generation)
    }

    private func create(_ name: String, in folder: KernelItem) throws {
        let made = try bench.replica.createFile(
            FileName(name), in: folder, mode: 0o666, flags: O_WRONLY, caller: Bench.caller)
        close(made.1.descriptor)
        bench.replica.closed(made.0.number, isWriter: true)
    }

    private func exists(_ path: String) -> Bool { access("\(tree)/\(path)", F_OK) == 0 }

    /// The engine has a folder open before the kernel asks for it.
    @Test func changesReachTheFolderThatTheKernelKnows() throws {
        for name in ["mine", "secret"] { try bench.makeFolder(name) }
        let number = try bench.number("secret")
        bench.replica.forget(number, count: .max)
        _ = try bench.replica.withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[number] else { throw .errno(.stale) }
            tree.closeDescriptor(of: node)
            node.kernelFile = nil
            return try tree.descriptor(of: node)
        }
        exchange("mine", "secret")
        try create("new", in: try known("secret"))
        #expect(exists("secret/new"))
        #expect(!exists("mine/new"))
    }

    /// A folder that can't be removed was opened to be kept.
    @Test func aFailedRemovalTouchesNoOtherFile() throws {
        for name in ["mine", "secret"] { try bench.makeFolder(name) }
        try create("full", in: try known("secret"))
        let mine = try known("mine")
        bench.replica.withTree { tree in tree.items[mine.number].map(tree.closeDescriptor) }
        exchange("mine", "secret")
        #expect(throws: ReplicaError.self) { try bench.replica.remove(FileName("mine"), in: .root, isFolder: true) }
        exchange("mine", "secret")
        do { try create("new", in: mine) } catch ReplicaError.errno(Errno(rawValue: ESTALE)) {}
        #expect(!exists("secret/new"))
    }

    @Test func knowledgeOfTheFormerFolderIsDropped() throws {
        for name in ["mine", "secret"] { try bench.makeFolder(name) }
        let secret = try known("secret")
        bench.replica.withTree { $0.items[secret.number]?.hasDefaultACL = true }
        exchange("mine", "secret")
        _ = try known("secret")
        exchange("mine", "secret")
        _ = try known("secret")
        #expect(bench.replica.withTree { $0.items[secret.number].map { $0.hasDefaultACL == nil } } == true)
    }

    /// What the kernel has forgotten it can't mean.
    @Test func aNodeWithoutReferencesIsStale() throws {
        try bench.write("mine", to: "mine")
        let mine = try known("mine")
        #expect(try bench.replica.attributes(of: mine).number == mine.number)
        bench.replica.forget(mine.number, count: .max)
        #expect(throws: ReplicaError.errno(Errno(rawValue: ESTALE))) { try bench.replica.attributes(of: mine) }
    }

    /// Another file in an item's place is sent with its own mode, so that the store's is not given to it.
    @Test(arguments: [true, false]) func theReplacementIsSentAsAWhole(isLookedUp: Bool) async throws {
        try bench.write("theirs", to: "mine")
        try bench.write("secret", to: "secret")
        #expect(chmod(tree + "/secret", 0o600) == 0)
        try await bench.settle()
        if !isLookedUp { try bench.write("edited", to: "mine") }
        exchange("mine", "secret")
        if isLookedUp { _ = try known("mine") }
        try await bench.settle()
        #expect(bench.store.text(at: "mine") == "secret")
        #expect(bench.store.item(at: "mine")?.metadata.mode == 0o600)
        // The bytes of one are not those of the other, whatever times its owner gives it.
        let number = try bench.number("mine")
        exchange("mine", "secret")
        var theirs = stat()
        #expect(stat(tree + "/secret", &theirs) == 0)
        #expect(utimensat(AT_FDCWD, tree + "/mine", [theirs.st_atim, theirs.st_mtim], 0) == 0)
        #expect(throws: EvictionRefusal.self) { try bench.replica.evictFile(number) }
    }

    /// New content that gets the attributes of another file than the kernel knows is another node to it, and that file
    /// is kept.
    @Test func newContentIsNotAttributedToTheFormerFile() async throws {
        bench.store.write("remote", to: "far")
        try bench.write("secret", to: "secret")
        try await bench.settle()
        let far = try known("far")
        exchange("far", "secret")
        bench.store.write("remote and newer", to: "far")
        try await bench.settle()
        #expect(throws: ReplicaError.errno(Errno(rawValue: ESTALE))) { try bench.replica.attributes(of: far) }
        let kept = bench.folders.kept.string
        let names = try FileManager.default.contentsOfDirectory(atPath: kept)
        #expect(try names.map { try String(contentsOfFile: "\(kept)/\($0)", encoding: .utf8) } == ["secret"])
        #expect(try await bench.read("far") == "remote and newer")
    }

    /// The other names of a replaced file keep it, and neither is sent for ever.
    @Test func aReplacedNameOfAHardLinkedFileIsASeparateFile() async throws {
        try bench.write("both", to: "a")
        _ = try bench.replica.link(try bench.number("a"), as: FileName("b"), in: .root)
        try await bench.settle()
        for name in ["a", "b"] { bench.replica.forget(try bench.number(name), count: .max) }
        try Data("replaced".utf8).write(to: URL(filePath: tree + "/new"))
        #expect(rename(tree + "/new", tree + "/a") == 0)
        _ = try known("a")
        try await bench.settle()
        #expect(bench.store.text(at: "a") == "replaced")
        #expect(bench.store.text(at: "b") == "both")
    }

    /// A real file that was saved in the place of a placeholder below is not filled with the store's content because
    /// its mode is changed.
    @Test func aReplacedPlaceholderIsNotFilled() async throws {
        bench.store.write("remote", to: "far")
        try await bench.settle()
        _ = try known("far")
        try Data("saved".utf8).write(to: URL(filePath: tree + "/new"))
        #expect(rename(tree + "/new", tree + "/far") == 0)
        var change = AttributeChange()
        change.mode = 0o600
        _ = try bench.replica.setAttributes(change, of: try known("far"))
        for _ in 0..<5 {
            bench.pass(400)
            await bench.engine.receive()
            _ = await bench.engine.send()
        }
        #expect(try String(contentsOfFile: tree + "/far", encoding: .utf8) == "saved")
        #expect(bench.store.text(at: "far") == "remote")
    }

    /// The change that can't be sent is shown, until the tree is scanned.
    @Test func theStatusSaysThatAPlaceholderWasReplaced() async throws {
        bench.store.write("remote", to: "far")
        try await bench.settle()
        try bench.setAttributes(of: "far") { $0.mode = 0o600 }
        try Data("saved".utf8).write(to: URL(filePath: tree + "/new"))
        #expect(rename(tree + "/new", tree + "/far") == 0)
        for _ in 1...3 { try await bench.send(after: 400) }
        let error = try #require(try await bench.report("far").error)
        #expect(error.message == "another file took its place in the backing tree" && error.attempts == 1)
        #expect(try bench.domain.report().reason == "not uploaded: \(error.message)")
    }

    /// A scan completes an eviction that was interrupted, of the file that it found.
    @Test func anotherFileIsNotEvictedByAScan() async throws {
        for name in ["mine", "secret"] { try bench.write(name, to: name) }
        try await bench.settle()
        let number = try bench.number("mine")
        try bench.replica.withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[number] else { throw .errno(.stale) }
            let below = try tree.descriptor(of: tree.root)
            let lines = try errnos { () throws(Errno) in try BackingFolderListing(of: below, mark: tree.mark).lines }
            guard let line = lines.first(where: { $0.name == FileName("mine") }) else { throw .errno(.stale) }
            exchange("mine", "secret")
            #expect(tree.makePlaceholder(of: node, line, in: tree.root) == nil)
            exchange("mine", "secret")
            #expect(tree.makePlaceholder(of: node, line, in: tree.root) != nil)
        }
        #expect(try String(contentsOfFile: tree + "/secret", encoding: .utf8) == "secret")
    }
}

/// What is created under a name is handed over only if nobody has exchanged it.
@Suite struct HandedOverTests {
    private let folder: BenchFolder
    private let path: String
    private let caller = Caller(user: 65_534, group: 65_534)

    init() throws {
        folder = try BenchFolder()
        path = folder.path.string
    }

    /// Calls `make`, with a younger file of root's in the place of what was created.
    private func make(exchangedFor other: (String) -> Void) throws {
        let below = open(path, O_RDONLY | O_DIRECTORY)
        defer { close(below) }
        #expect(mkdir(path + "/in", 0o755) == 0)
        // Younger than the last change of the folder.
        usleep(20_000)
        other(path + "/secret")
        let into = open(path + "/in", O_RDONLY | O_DIRECTORY)
        defer { close(into) }
        _ = try Ownership.make(FileName("new"), in: into, for: caller) { (text) throws(Errno) in
            try Errno.check(mkdirat(into, text, 0o755))
            try Errno.check(renameat(into, "new", below, "passing"))
            try Errno.check(renameat(below, "secret", into, "new"))
        }
    }

    private var owner: UInt32 {
        var status = stat()
        #expect(stat(path + "/in/new", &status) == 0)
        return status.st_uid
    }

    @Test(.enabled(if: geteuid() == 0)) func aReplacedFileIsNotHandedOver() throws {
        #expect(throws: Errno(rawValue: ESTALE)) {
            try make { #expect(FileManager.default.createFile(atPath: $0, contents: Data("secret".utf8))) }
        }
        #expect(owner == 0)
    }

    @Test(.enabled(if: geteuid() == 0)) func aFolderWithEntriesIsNotHandedOver() throws {
        #expect(throws: Errno(rawValue: ESTALE)) {
            try make {
                #expect(mkdir($0, 0o700) == 0)
                #expect(mkdir($0 + "/sub", 0o700) == 0)
            }
        }
        #expect(owner == 0)
    }

    @Test(.enabled(if: geteuid() == 0)) func anotherUsersFolderIsNotHandedOver() throws {
        #expect(throws: Errno(rawValue: ESTALE)) {
            try make {
                #expect(mkdir($0, 0o700) == 0)
                #expect(chown($0, 1, 1) == 0)
            }
        }
        #expect(owner == 1)
    }

    @Test(.enabled(if: geteuid() == 0)) func aNewFolderIsHandedOver() throws {
        let below = open(path, O_RDONLY | O_DIRECTORY)
        defer { close(below) }
        let made = try Ownership.make(FileName("new"), in: below, for: caller) { (text) throws(Errno) in
            try Errno.check(mkdirat(below, text, 0o755))
        }
        #expect(made.user == caller.user)
    }
}
