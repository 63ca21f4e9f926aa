import Glibc
import ReplicaControl
import ReplicaTestSupport
import SystemPackage
import Testing

/// Where store programs are searched.
@Suite struct StoreProgramSearchTests {
    private static let environment = ["HOME": "/home/me", "PATH": "/usr/bin:/bin::relative:/usr/bin:/opt/bin"]

    @Test func rootSearchesOnlySystemFolders() {
        let search = StoreProgramSearch(environment: Self.environment, isRoot: true)
        #expect(search.folders == ["/usr/lib/replica/stores", "/usr/local/lib/replica/stores"])
        #expect(search.places(of: "s3").first == "/usr/lib/replica/stores/replica-store-s3")
    }

    @Test func aUsersFoldersAndPathAreSearched() {
        let search = StoreProgramSearch(environment: Self.environment, isRoot: false)
        let own: [FilePath] = ["/home/me/.local/lib/replica/stores", "/usr/bin", "/bin", "/opt/bin"]
        #expect(search.folders == StoreProgramSearch.system + own)
        #expect(StoreProgramSearch(environment: ["HOME": "here"], isRoot: false).folders == StoreProgramSearch.system)
    }

    @Test func storesAreNamedByTheirSchemes() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("one")
        try folder.makeFolder("two")
        for path in [
            "one/replica-store-b", "two/replica-store-b", "two/replica-store-a+1", "two/replica-store-Bad",
            "two/replica-store-", "two/other", "one/replica-store-webdav", "one/replica-store-dav",
        ] {
            try folder.write("", to: path, mode: 0o755)
        }
        try folder.write("", to: "one/replica-store-plain", mode: 0o644)
        let search = StoreProgramSearch(
            environment: ["PATH": "\(folder.path)/one:\(folder.path)/none:\(folder.path)/two"], isRoot: false)
        let found = search.installed().filter { $0.path.starts(with: folder.path) }
        #expect(found.map(\.scheme) == ["a+1", "b", "dav", "davs"])
        #expect(
            found.map(\.path) == [
                folder.path.appending("two/replica-store-a+1"), folder.path.appending("one/replica-store-b"),
                folder.path.appending("one/replica-store-webdav"), folder.path.appending("one/replica-store-webdav"),
            ])
        // One program serves both WebDAV schemes.
        #expect(
            ["dav", "davs", "s3"].map(StoreProgramSearch.program) == [
                "replica-store-webdav", "replica-store-webdav", "replica-store-s3",
            ])
    }
}
