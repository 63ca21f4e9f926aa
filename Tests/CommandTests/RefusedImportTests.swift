import Foundation
import Glibc
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica

/// A store may reject imports: the program asks it before anything is moved.
@Suite struct RefusedImportTests {
    private struct Store: StoreWrapper {
        let store: any RemoteStore = MemoryStore()
        let allowsImport: Bool

        var properties: StoreProperties {
            var properties = store.properties
            properties.allowsImport = allowsImport
            return properties
        }
    }

    private func make(_ allowsImport: Bool, _ folder: TemporaryFolder, _ source: FilePath) throws {
        let root = DomainDirectory(root: folder.path.appending("data"))
        var new = NewDomain(
            name: try DomainName("d"), storeURL: try StoreURL("file://\(folder.path)/store"), options: MountOptions(),
            directory: source, mountpoint: nil, directories: [root], root: root)
        new.tryOut = { _, _ in TriedStore(properties: Store(allowsImport: allowsImport).properties) }
        let creation = DomainCreation()
        do { _ = try new.make(creation) } catch { throw creation.rolledBack(after: error) }
    }

    @Test func statement11_theProgramAsksTheStore() throws {
        let folder = try TemporaryFolder()
        let source = try folder.makeFolder("src")
        try folder.write("text", to: "src/file")
        var (before, after) = (stat(), stat())
        #expect(lstat(source.string, &before) == 0)
        let refusal = ControlFailure(.unsupported, "the store does not accept imports; \(source) is unchanged")
        #expect(throws: refusal) { try make(false, folder, source) }
        #expect(lstat(source.string, &after) == 0)
        #expect(after.st_ino == before.st_ino && after.st_ctim.tv_sec == before.st_ctim.tv_sec)
        #expect(after.st_ctim.tv_nsec == before.st_ctim.tv_nsec)
        #expect(access(folder.path.appending("data").string, F_OK) == -1, "no domain is left")
        // Another store accepts it.
        try make(true, folder, source)
        #expect(access(source.string, F_OK) == -1)
        let moved = folder.path.appending("data/d/tree/file")
        #expect(FileManager.default.contents(atPath: moved.string) == Data("text".utf8))
    }
}
