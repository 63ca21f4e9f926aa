import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import DirectoryStore

/// Stores on file systems that keep less than Linux's own.
@Suite(.serialized) struct OtherFileSystemTests {
    @Test(arguments: StorePromises.all)
    func keepsPromise(_ promise: StorePromise) async throws {
        let disk = try OtherFileSystem()
        try await promise.check(try await disk.subject())
    }

    /// But for names that it can't hold.
    @Test(arguments: StorePromises.all.filter { $0.name != "names come back byte for byte" })
    func keepsPromiseOnExFAT(_ promise: StorePromise) async throws {
        let disk = try OtherFileSystem(.exFAT)
        try await promise.check(try await disk.subject())
    }

    /// Where no call looks and renames at once, as on network file systems: by links.
    @Test(arguments: StorePromises.all)
    func keepsPromiseWithoutAtomicRenames(_ promise: StorePromise) async throws {
        let scratch = try Scratch()
        let root = scratch.root
        var abilities = FileSystemAbilities()
        abilities.renamesExactly = false
        let found = abilities
        let subject = try await StoreSubject(other: ShellClient(root: root)) {
            try DirectoryStore(path: root, abilities: found)
        }
        try await promise.check(subject)
    }

    /// But for what only a file system can keep that finds a name in other letters.
    @Test(arguments: StorePromises.all.filter { $0.name != "names that differ in case collide" })
    func keepsPromiseWithFewFeatures(_ promise: StorePromise) async throws {
        let disk = try OtherFileSystem()
        var abilities = FileSystemAbilities()
        (abilities.keepsAttributes, abilities.renamesExactly) = (false, false)
        // What FAT has beside; the file system here would keep it.
        (abilities.isCaseSensitive, abilities.keepsModes, abilities.keepsSymlinks) = (false, false, false)
        try await promise.check(try await disk.subject(abilities))
    }

    @Test func itemsKeepTheirIdentifiersAcrossARestart() async throws {
        let disk = try OtherFileSystem()
        let first = try disk.store()
        let folder = try await first.make("folder")
        let inner = try await first.make("inner", "text", in: folder.identifier)
        let file = try await first.make("a", "one")
        let moved = try await first.rename(file, to: "b")
        let other = try await first.make("a", "other")
        #expect(moved.identifier == file.identifier && other.identifier != file.identifier)
        let renamed = try await first.rename(folder, to: "renamed")
        #expect(renamed.identifier == folder.identifier)
        #expect(try await first.child("inner", in: folder.identifier) == inner)
        try await first.deleteItem(moved.identifier, base: moved.version)
        // A power cut may leave half of a line.
        let log = try FileHandle(forWritingTo: URL(filePath: disk.memory.string))
        try log.seekToEnd()
        try log.write(contentsOf: Data("replica:root 6".utf8))
        try log.close()
        for _ in 0..<2 {
            let again = try disk.store()
            #expect(try await again.child("a").identifier == other.identifier)
            #expect(try await again.child("renamed").identifier == folder.identifier)
            #expect(try await again.all(in: folder.identifier) == [inner])
            #expect(try await again.text(inner) == "text")
        }
    }

    /// Nothing else says which item it is: what stands at its place.
    @Test func anEntryAtAKnownPathIsTheItem() async throws {
        let disk = try OtherFileSystem()
        let store = try disk.store()
        let file = try await store.make("file", "one")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        let client = SlowClient(client: ShellClient(root: disk.root))
        try await client.write(Array("newer".utf8), to: "beside")
        try #require(Glibc.rename("\(disk.root)/beside", "\(disk.root)/file") == 0)
        let found = try await store.changes(from: anchor, marker: "marker")
        #expect(found.updated[file.identifier]?.size == 5)
        #expect(!found.deleted.contains(file.identifier))
        #expect(try await store.text(file) == "newer")
    }

    /// What can't be found out must not change from one start to the next.
    @Test func withoutWriteAccessFeaturesAreQueried() async throws {
        let disk = try OtherFileSystem()
        let writable = try disk.store()
        let file = try await writable.make("file", "text")
        #expect(!writable.tree.abilities.keepsAttributes)
        try disk.remount("ro")
        let store = try disk.store()
        #expect(!store.tree.abilities.keepsAttributes)
        #expect(try await store.all() == [file])
        await expectFailure("readOnly") { try await store.make("new", "text") }
        try disk.remount("rw")
        try await store.make("new", "text")
    }
}

extension DirectoryStore {
    @discardableResult
    func rename(_ item: Item, to name: String, in parent: ItemIdentifier? = nil) async throws -> Item {
        let template = ItemTemplate(
            identifier: item.identifier, parent: parent ?? item.parent, filename: FileName(name), kind: item.kind)
        let result = try await modifyItem(template, base: item.version, changedFields: .place, contents: nil)
        return try #require(result.item)
    }
}
