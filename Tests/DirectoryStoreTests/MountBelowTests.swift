import Foundation
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// What is mounted below a store's root is no part of it, of whichever file system it is.
@Suite(.enabled(if: geteuid() == 0)) struct MountBelowTests {
    @Test(arguments: ["bind", "tmpfs"]) func aMountpointIsNotAnItemAndIsNeverRemoved(kind: String) async throws {
        let scratch = try Scratch()
        let (place, outside) = ("\(scratch.root)/folder/inner", "\(scratch.path)/outside")
        for path in [place, outside] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try Data("precious".utf8).write(to: URL(filePath: "\(outside)/file"))
        let store = try DirectoryStore(path: scratch.root)
        let mounted =
            try kind == "bind" ? run("mount", "--bind", outside, place) : run("mount", "-t", "tmpfs", "none", place)
        try #require(mounted == 0)
        defer { #expect(throws: Never.self) { try run("umount", place) } }
        try Data("precious".utf8).write(to: URL(filePath: "\(place)/file"))
        let folder = try #require(try await store.all().first { $0.filename == FileName("folder") })
        #expect(try await store.all().count == 1)
        await expectFailure("directoryNotEmpty") {
            try await store.deleteItem(folder.identifier, base: folder.version)
        }
        #expect(FileManager.default.contents(atPath: "\(place)/file") == Data("precious".utf8))
        // Its name is taken, as by a device, and it is not taken for an item.
        let template = ItemTemplate(
            identifier: ItemIdentifier("t"), parent: folder.identifier, filename: FileName("inner"), kind: .folder)
        await expectFailure("filenameCollision") {
            _ = try await store.createItem(basedOn: template, fields: [], contents: nil, options: .mayAlreadyExist)
        }
    }
}
