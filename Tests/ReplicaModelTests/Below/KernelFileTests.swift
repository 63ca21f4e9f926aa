import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// The kernel checks a call against the attributes of one file. If a user who may rename in the backing tree has given
/// its name to another file since, that file is neither read nor changed.
@Suite struct KernelFileTests {
    private let bench: Bench
    private let mine: ItemNumber
    private let shown: KernelEntry

    init() throws {
        bench = try Bench()
        try bench.write("mine", to: "mine")
        try bench.write("secret", to: "secret")
        mine = try bench.number("mine")
        shown = try bench.replica.attributes(of: mine)
        let path = bench.folders.tree.string + "/secret"
        #expect(chmod(path, 0o600) == 0)
        try BackingPath(folder: AT_FDCWD, name: FileName(path)).setXattr("user.word", to: Array("word".utf8))
    }

    /// Exchanges the names of the two in the backing tree.
    private func exchange(_ left: String = "mine", _ right: String = "secret") {
        let tree = bench.folders.tree.string
        for (from, to) in [(left, ".passing"), (right, left), (".passing", right)] {
            #expect(rename("\(tree)/\(from)", "\(tree)/\(to)") == 0)
        }
    }

    /// The calls that programs make on their own files.
    private static let calls: [String: @Sendable (Replica, KernelItem) throws -> Void] = [
        "read": { _ = try $0.open($1, flags: O_RDONLY) },
        "write": { _ = try $0.open($1, flags: O_WRONLY) },
        "cut": { _ = try $0.open($1, flags: O_RDWR | O_TRUNC) },
        "cut, for reading": { _ = try $0.open($1, flags: O_RDONLY | O_TRUNC) },
        "open again": { _ = try $0.reopen($1, flags: O_RDONLY) },
        "chmod": {
            var change = AttributeChange()
            change.mode = 0o666
            _ = try $0.setAttributes(change, of: $1)
        },
        "truncate": {
            var change = AttributeChange()
            change.size = 1
            _ = try $0.setAttributes(change, of: $1)
        },
        "touch": {
            var change = AttributeChange()
            change.modified = .to(Timestamp(secondsSince1970: 1))
            _ = try $0.setAttributes(change, of: $1)
        },
        "getxattr": { _ = try $0.xattr("user.word", of: $1) },
        "listxattr": { _ = try $0.xattrNames(of: $1) },
        "setxattr": { (replica, number) in
            try Array("mine".utf8).withUnsafeBytes { try replica.setXattr("user.word", $0, flags: 0, of: number) }
        },
        "removexattr": { try $0.setXattr("user.word", nil, flags: 0, of: $1) },
        "link": { _ = try $0.link($1, as: FileName("other"), in: .root) },
        "flags": { _ = try $0.flags(.flags, [], of: $1, isRoot: false) },
    ]

    private func secret(at name: String) throws -> [String] {
        let path = bench.folders.tree.string + "/" + name
        var status = stat()
        #expect(stat(path, &status) == 0)
        let word = try BackingPath(folder: AT_FDCWD, name: FileName(path)).xattr("user.word")
        return [
            try String(contentsOfFile: path, encoding: .utf8), String(status.st_mode & 0o7777, radix: 8),
            "\(status.st_nlink)", String(decoding: word, as: UTF8.self),
            "\(status.st_mtim.tv_sec > 1)",
        ]
    }

    @Test(arguments: calls.keys.sorted()) func aReplacedFileIsNotTouched(call: String) throws {
        let before = try secret(at: "secret")
        exchange()
        #expect(throws: ReplicaError.errno(Errno(rawValue: ESTALE))) {
            try Self.calls[call]?(bench.replica, KernelItem(mine, generation: shown.generation))
        }
        #expect(try secret(at: "mine") == before)
        // The kernel looks the name up again, and checks the new attributes.
        let now = try bench.replica.lookup(FileName("mine"), in: .root)
        #expect(now.generation == shown.generation + 1)
        #expect(now.status.permissions == 0o600)
    }

    /// The kernel allowed the call by the attributes of the former file, and another program looked the name up since.
    @Test(arguments: calls.keys.sorted()) func aReplacedFileIsNotTouchedAfterALookup(call: String) throws {
        let before = try secret(at: "secret")
        exchange()
        _ = try bench.replica.lookup(FileName("mine"), in: .root)
        #expect(throws: ReplicaError.errno(Errno(rawValue: ESTALE))) {
            try Self.calls[call]?(bench.replica, KernelItem(mine, generation: shown.generation))
        }
        #expect(try secret(at: "mine") == before)
    }

    /// A lookup in between gives the kernel another file than the one for which it allowed the call.
    @Test func aLookupOfAReplacedFileChangesItsGeneration() throws {
        exchange()
        #expect(try bench.replica.attributes(of: mine).generation == shown.generation + 1)
        exchange()
        #expect(try bench.replica.attributes(of: mine).generation == shown.generation + 2)
    }

    /// A program's own rename through the mount is not an exchange, nor is one of a file unknown to the kernel.
    @Test func ownChangesStay() throws {
        try bench.rename("mine", to: "secret", .exchange)
        #expect(try bench.replica.attributes(of: mine).generation == shown.generation)
        let secret = try bench.number("mine")
        bench.replica.forget(secret, count: .max)
        exchange()
        #expect(try bench.replica.lookup(FileName("mine"), in: .root).generation == 0)
    }

    /// One of a file's two names becomes another file: it gets its own number.
    @Test func aReplacedNameOfALinkedFileGetsItsOwnNumber() throws {
        _ = try bench.replica.link(mine, as: FileName("other"), in: .root)
        exchange("other", "secret")
        let other = try bench.replica.lookup(FileName("other"), in: .root)
        #expect(other.number != mine)
        #expect(other.status.permissions == 0o600)
        #expect(try bench.replica.attributes(of: mine).generation == shown.generation)
    }

    /// The name whose number they share becomes another file: it keeps the number, in another generation.
    @Test func theNameThatKeepsTheNumberGetsANewGeneration() throws {
        _ = try bench.replica.link(mine, as: FileName("other"), in: .root)
        exchange()
        let now = try bench.replica.lookup(FileName("mine"), in: .root)
        #expect(now.status.permissions == 0o600)
        #expect(now.number != mine || now.generation != shown.generation)
        #expect(throws: ReplicaError.errno(Errno(rawValue: ESTALE))) {
            _ = try bench.replica.open(KernelItem(mine, generation: shown.generation), flags: O_RDONLY)
        }
    }

    /// Asking for attributes may find out that they are another file's.
    @Test func attributesOfAReplacedFileAreNotServed() throws {
        _ = try bench.replica.link(mine, as: FileName("other"), in: .root)
        let known = KernelItem(mine, generation: shown.generation)
        exchange()
        #expect(throws: ReplicaError.errno(Errno(rawValue: ESTALE))) { try bench.replica.attributes(of: known) }
    }

    /// The store's changes of a file are not applied to another, which is neither evicted nor filled.
    @Test func changesInTheStoreReachNoReplacedFile() async throws {
        try await bench.settle()
        exchange()
        var metadata = ItemMetadata()
        metadata.mode = 0o666
        #expect(throws: ReplicaError.self) {
            try bench.replica.withTreeWaking { (tree) throws(ReplicaError) in
                guard let node = tree.items[mine] else { return }
                try tree.applyMetadata(metadata, .mode, to: node)
            }
        }
        #expect(throws: EvictionRefusal.self) { try bench.replica.evictFile(mine) }
        #expect(try secret(at: "mine").prefix(2) == ["secret", "600"])
    }

    @Test func onlyTheKnownPlaceholderIsFilled() async throws {
        bench.store.write("remote", to: "far")
        try await bench.settle()
        let far = try await bench.find("far")
        exchange("far", "secret")
        await #expect(throws: (any Error).self) { try await bench.engine.hydrate(far, range: nil) }
        #expect(try secret(at: "far").prefix(2) == ["secret", "600"])
    }

    /// A completely fetched file loses its mark, but not another placeholder that has its name by then.
    @Test func theMarkOfTheHeldFileIsRemoved() async throws {
        for name in ["far", "near"] { bench.store.write("remote", to: name) }
        try await bench.settle()
        let target = try #require(try bench.replica.fetchTarget(try await bench.find("far"), range: nil))
        let descriptor = try bench.replica.openForFetch(target)
        defer { close(descriptor) }
        exchange("far", "near")
        try bench.replica.completeFetch(target, descriptor: descriptor)
        func hasMark(_ name: String) throws -> Bool {
            let path = FileName(bench.folders.tree.string + "/" + name)
            return try BackingPath(folder: AT_FDCWD, name: path).xattrNames().contains(OwnXattr.dataless)
        }
        #expect(try hasMark("far"))
        #expect(try !hasMark("near"))
    }

    /// The calls in a folder.
    private static let callsInFolder: [String: @Sendable (Replica, KernelItem) throws -> Void] = [
        "create": {
            _ = try $0.createFile(FileName("new"), in: $1, mode: 0o644, flags: O_WRONLY, caller: Bench.caller)
        },
        "tmpfile": { _ = try $0.createUnnamed(in: $1, mode: 0o644, flags: O_WRONLY, caller: Bench.caller) },
        "mkdir": { _ = try $0.makeFolder(FileName("new"), in: $1, mode: 0o755, caller: Bench.caller) },
        "symlink": { _ = try $0.makeSymlink(FileName("new"), in: $1, target: [65], caller: Bench.caller) },
        "mknod": { _ = try $0.makeNode(FileName("new"), in: $1, mode: S_IFIFO, device: 0, caller: Bench.caller) },
        "unlink": { try $0.remove(FileName("below"), in: $1, isFolder: false) },
        "rename out": {
            try $0.rename(FileName("below"), in: $1, to: FileName("out"), in: .root, flags: [])
        },
        "rename in": { try $0.rename(FileName("mine"), in: .root, to: FileName("in"), in: $1, flags: []) },
        "lookup": { _ = try $0.lookup(FileName("below"), in: $1) },
        "lookup of several": { _ = try $0.lookup([FileName("below")][...], in: $1) },
        "list": { _ = try $0.entries(of: $1) },
        "parent": { _ = try $0.parent(of: $1) },
        "lookup of ..": { _ = try $0.lookupParent(of: $1) },
    ]

    @Test(arguments: callsInFolder.keys.sorted(), [true, false])
    func aReplacedFolderIsNotTouched(call: String, isLookedUp: Bool) throws {
        for name in ["a", "b"] {
            try bench.makeFolder(name)
            try bench.write("below", to: name + "/below")
        }
        let folder = try bench.replica.lookup(FileName("a"), in: .root)
        bench.replica.withTree { tree in tree.items[folder.number].map(tree.closeDescriptor) }
        exchange("a", "b")
        if isLookedUp { _ = try bench.replica.lookup(FileName("a"), in: .root) }
        let known = KernelItem(folder.number, generation: folder.generation)
        // What is in memory can be told without a look at the folder, which is the one the kernel knows until then.
        guard isLookedUp || !["list", "parent", "lookup of ..", "lookup of several"].contains(call) else { return }
        #expect(throws: ReplicaError.errno(Errno(rawValue: ESTALE))) {
            try Self.callsInFolder[call]?(bench.replica, known)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folders.tree.string + "/a") == ["below"])
    }
}

/// An entry that was just created is distinguished from one that was renamed to its name meanwhile.
@Suite struct NewEntryCheckTests {
    @Test func anOldGenerationIsStale() throws {
        let folder = try BenchFolder()
        let path = folder.path.string
        func status(_ name: String) throws -> FileStatus { try FileStatus(FileName(name), in: descriptor) }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        #expect(FileManager.default.createFile(atPath: path + "/old", contents: Data()))
        // The next tick of the clock for file timestamps.
        usleep(20_000)
        #expect(utimes(path, nil) == 0)
        let moment = try NewEntryCheck(of: descriptor)
        #expect(mkdir(path + "/new", 0o755) == 0)
        try moment.demandNew(try status("new"))
        #expect(rename(path + "/old", path + "/taken") == 0)
        let taken = try status("taken")
        #expect(throws: Errno(rawValue: ESTALE)) { try moment.demandNew(taken) }
        #expect(link(path + "/taken", path + "/twice") == 0)
        var twice = try status("twice")
        twice.born = Timestamp(nanoseconds: 0)
        #expect(throws: Errno(rawValue: ESTALE)) { try moment.demandNew(twice) }
    }
}
