import Foundation
import Glibc
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica

/// Root imports a directory below a folder of another user, who puts something else in its place meanwhile.
@Suite struct ExchangedImportTests {
    private struct Interrupted: Error {}

    /// `media/photos` is to be imported; `victim/photos` and `media/other` never are.
    private static func makeFolders() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in ["media", "victim", "media/photos", "victim/photos", "media/other"] { try folder.makeFolder(name) }
        for name in ["media/photos", "victim/photos", "media/other"] { try folder.write(name, to: name + "/file") }
        return folder
    }

    /// Imports it.
    /// - Parameters:
    ///   - meanwhile: Called after the check, before the directory is moved.
    ///   - done: Called after each step.
    private static func bringUp(
        in folder: TemporaryFolder, state: String? = nil, meanwhile: @escaping () -> Void = {},
        done: @escaping (DomainCreation.Step) throws -> Void = { _ in }
    ) throws {
        let root = DomainDirectory(root: folder.path.appending("data"))
        let options = try MountOptions(texts: state.map { ["state=\(folder.path)/\($0)"] } ?? [])
        var new = NewDomain(
            name: try DomainName("d"), storeURL: try StoreURL("file://\(folder.path)/store"), options: options,
            directory: folder.path.appending("media/photos"), mountpoint: nil, directories: [root], root: root)
        new.tryOut = { _, _ in
            meanwhile()
            return TriedStore(properties: MemoryStore().properties)
        }
        let creation = DomainCreation(didDo: done)
        do { _ = try new.make(creation) } catch { throw creation.rolledBack(after: error) }
    }

    private static func text(_ name: String, in folder: TemporaryFolder) -> String? {
        FileManager.default.contents(atPath: folder.path.appending(name).string)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The folder above becomes a link to another one.
    private static func redirect(in folder: TemporaryFolder) {
        let media = folder.path.appending("media").string
        #expect(rename(media, media + "-moved") == 0)
        #expect(symlink(folder.path.appending("victim").string, media) == 0)
    }

    @Test func aLinkReplacedDuringAnImportIsNotFollowed() throws {
        let folder = try Self.makeFolders()
        try Self.bringUp(in: folder, meanwhile: { Self.redirect(in: folder) })
        #expect(Self.text("data/d/tree/file", in: folder) == "media/photos")
        #expect(Self.text("victim/photos/file", in: folder) == "victim/photos")
    }

    @Test func aLinkThatWasThereIsRefused() throws {
        let folder = try Self.makeFolders()
        Self.redirect(in: folder)
        let failure = #expect(throws: ControlFailure.self) { try Self.bringUp(in: folder) }
        #expect(failure?.code == .cannotImport)
        #expect(failure?.message.contains("a symbolic link is on the way") == true)
        #expect(Self.text("victim/photos/file", in: folder) == "victim/photos")
    }

    @Test func aReplacedDirectoryIsNotImported() throws {
        let folder = try Self.makeFolders()
        let failure = #expect(throws: ControlFailure.self) {
            try Self.bringUp(
                in: folder,
                meanwhile: {
                    let media = folder.path.appending("media").string
                    #expect(rename(media + "/photos", media + "/photos-moved") == 0)
                    #expect(rename(media + "/other", media + "/photos") == 0)
                })
        }
        #expect(failure?.code == .cannotImport)
        #expect(Self.text("media/photos/file", in: folder) == "media/other")
        #expect(Self.text("media/photos-moved/file", in: folder) == "media/photos")
        #expect(access(folder.path.appending("data").string, F_OK) == -1, "no domain is left")
    }

    @Test func theStateIsCreatedInThePlaceThatWasChecked() throws {
        let folder = try Self.makeFolders()
        for name in ["mine", "evil"] { try folder.makeFolder(name) }
        let link = folder.path.appending("link").string
        #expect(symlink("mine", link) == 0)
        try Self.bringUp(
            in: folder, state: "link/state",
            meanwhile: {
                #expect(unlink(link) == 0)
                #expect(symlink("evil", link) == 0)
            })
        #expect(Self.text("mine/state/tree/file", in: folder) == "media/photos")
        #expect(Self.text("data/d/tree/file", in: folder) == "media/photos")
        #expect(access(folder.path.appending("evil/state").string, F_OK) == -1)
    }

    @Test func aRollbackReachesOnlyItsPlace() throws {
        let folder = try Self.makeFolders()
        #expect(unlink(folder.path.appending("victim/photos/file").string) == 0)
        #expect(rmdir(folder.path.appending("victim/photos").string) == 0)
        #expect(throws: ControlFailure.self) {
            try Self.bringUp(
                in: folder,
                done: { step in
                    guard step == .makeTree else { return }
                    Self.redirect(in: folder)
                    throw Interrupted()
                })
        }
        #expect(access(folder.path.appending("victim/photos").string, F_OK) == -1)
        #expect(Self.text("media-moved/photos/file", in: folder) == "media/photos")
    }
}
