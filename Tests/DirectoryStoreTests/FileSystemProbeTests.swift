import CLinux
import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// What is found out about a store's file system.
@Suite(.serialized) struct FileSystemProbeTests {
    @Test func linuxFileSystemsKeepEverything() throws {
        for place in ["/var/tmp", "/dev/shm"] {
            let scratch = try Scratch(in: place)
            let folder = try SystemCalls.open(path: scratch.root, O_RDONLY)
            let before = try SystemCalls.status(of: folder)
            #expect(try FileSystemProbe.abilities(in: folder) == FileSystemAbilities())
            #expect(try SystemCalls.status(of: folder) == before, "nothing was tried")
            #expect(try FileSystemProbe.tryOut(in: folder) == FileSystemAbilities())
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.root).isEmpty)
        }
    }

    @Test func ramfsKeepsNoAttributes() throws {
        let disk = try OtherFileSystem()
        let store = try disk.store()
        var ramfs = FileSystemAbilities()
        ramfs.keepsAttributes = false
        #expect(store.tree.abilities == ramfs)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.root).isEmpty)
        #expect(store.properties.fields == [.contents, .place, .mode, .modificationDate])
        #expect(!store.properties.keepsIdentifiers && !store.properties.recognizesCreates)
    }

    /// A full one, in bytes or files, does not seem to be another file system than it is.
    @Test(arguments: ["size=64k,nr_inodes=1000", "size=1m,nr_inodes=4"])
    func aFullFileSystemIsProbedCorrectly(_ options: String) throws {
        let scratch = try Scratch()
        try #require(try run("mount", "-t", "tmpfs", "-o", options, "tmpfs", scratch.root) == 0)
        defer { umount2(scratch.root, Int32(MNT_DETACH)) }
        try run("sh", "-c", "cat /dev/zero >\(scratch.root)/zeros; for n in 1 2 3 4; do mkdir \(scratch.root)/$n; done")
        let folder = try SystemCalls.open(path: scratch.root, O_RDONLY)
        #expect(try FileSystemProbe.tryOut(in: folder) == FileSystemAbilities())
        #expect(try !FileManager.default.contentsOfDirectory(atPath: scratch.root).contains { $0.hasPrefix(".") })
    }

    @Test(.enabled(if: FailingDiskTests.isRoot)) func aDirectoryOfAnotherUserIsProbedCorrectly() throws {
        let scratch = try Scratch()
        let disk = try OtherFileSystem()
        for (root, keeps) in [(scratch.root, true), (disk.root, false)] {
            try #require(chmod(root, 0o555) == 0)
            let found: FileSystemAbilities
            do {
                setfsuid(4_711)
                defer { setfsuid(0) }
                found = try FileSystemProbe.tryOut(in: try SystemCalls.open(path: root, O_RDONLY))
            }
            var wanted = FileSystemAbilities()
            wanted.keepsAttributes = keeps
            #expect(found == wanted)
            #expect(try FileManager.default.contentsOfDirectory(atPath: root).isEmpty)
        }
    }

    /// What a killed one leaves goes with the next listing.
    @Test func remainsOfAKilledProbeAreRemoved() async throws {
        let scratch = try Scratch()
        let own = TemporaryName.make().description.split(separator: "-", omittingEmptySubsequences: false)
        var parts = own
        parts[5] = "1"  // No process of that number began then.
        let left = "\(scratch.root)/\(parts.joined(separator: "-"))"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try Data().write(to: URL(filePath: "\(left)/file"))
        let store = try DirectoryStore(path: scratch.root)
        #expect(try await store.all().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.root).isEmpty)
    }

    @Test(arguments: [
        ("plain", nil), ("ünïcödé 日本語", nil), (".hidden", nil), ("100%#&=", nil), (" leading", nil),
        ("a:b", "it has \":\""), ("a\\b", "it has \"\\\""), ("tab\tx", "it has a control character"),
        ("del\u{7F}", "it has a control character"), ("trailing ", "it ends with a space"),
        ("trailing.", "it ends with a dot"), ("...", "it ends with a dot"),
    ])
    func namesReservedByWindowsAreRejected(_ name: String, _ fault: String?) {
        var abilities = FileSystemAbilities()
        #expect(abilities.fault(of: FileName(name)) == nil)
        abilities.takesAnyName = false
        #expect(abilities.fault(of: FileName(name)) == fault)
        #expect(abilities.fault(of: FileName(bytes: [0x61, 0xFF])) == "it is not UTF-8")
    }

    @Test func anUnsupportedNameIsExplained() async throws {
        let scratch = try Scratch()
        var abilities = FileSystemAbilities()
        abilities.takesAnyName = false
        let store = try DirectoryStore(path: scratch.root, abilities: abilities)
        let error = await #expect(throws: RemoteStoreError.self) { try await store.make("what?", "text") }
        #expect(error == .cannotSynchronize("the store's filesystem cannot hold this name: it has \"?\""))
        #expect(try await store.all().isEmpty)
    }

    @Test func featuresFollowFromTheProbe() {
        var little = FileSystemAbilities()
        (little.keepsAttributes, little.keepsModes, little.keepsTimes, little.keepsSymlinks) = (
            false, false, false, false
        )
        little.isCaseSensitive = false
        let properties = little.properties
        #expect(properties.fields == [.contents, .place])
        #expect(!properties.keepsSymlinks && !properties.isCaseSensitive && !properties.recognizesCreates)
        #expect(FileSystemAbilities().properties == StoreProperties())
    }
}
