import Foundation
import ReplicaControl
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica

/// Where domains are found on disk (MODEL.md#layout).
@Suite struct DomainDirectoryTests {
    @Test(
        arguments: [
            (["XDG_DATA_HOME": "/data", "HOME": "/home/u"], 1000, ["/data/replica"]),
            (["HOME": "/home/u"], 1000, ["/home/u/.local/share/replica"]),
            (["XDG_DATA_HOME": "relative", "HOME": "/home/u"], 1000, ["/home/u/.local/share/replica"]),
            (["XDG_DATA_HOME": "/data", "HOME": "/root"], 0, ["/data/replica"]),
            (["XDG_DATA_HOME": "relative", "HOME": "/root"], 0, ["/var/lib/replica"]),
            (["HOME": "/root"], 0, ["/var/lib/replica"]), ([:], 0, ["/var/lib/replica"]),
            ([:], 4_000_000_000, []),
        ] as [([String: String], UInt32, [FilePath])])
    func theSearchPathFollowsUserAndEnvironment(environment: [String: String], user: UInt32, roots: [FilePath]) {
        #expect(DomainDirectory.searchPath(environment: environment, user: user).map(\.root) == roots)
    }

    @Test func theHomeComesFromThePasswordDatabaseBelowMount() throws {
        let passwd = try String(contentsOfFile: "/etc/passwd", encoding: .utf8).split(separator: "\n")
        let nobody = try #require(
            passwd.map { $0.split(separator: ":", omittingEmptySubsequences: false) }
                .first { $0[0] == "nobody" })
        let user = try #require(UInt32(nobody[2]))
        let expected = FilePath(String(nobody[5])).appending(".local/share/replica")
        #expect(DomainDirectory.searchPath(environment: [:], user: user).map(\.root) == [expected])
    }

    @Test func domainsAreSortedAndOtherEntriesSkipped() throws {
        let folder = try TemporaryFolder()
        for name in ["b", "a"] { _ = try FakeDomain(name, in: folder) }
        try folder.write("x", to: "replica/file")
        try folder.makeFolder("replica/empty")
        try folder.makeFolder("replica/.hidden")
        let directory = DomainDirectory(root: folder.path.appending("replica"))
        #expect(try directory.domains().map(\.name.text) == ["a", "b"])
        #expect(try directory.domain(named: DomainName("b"))?.record.store == "file:///srv/b")
        #expect(try directory.domain(named: DomainName("empty")) == nil)
        #expect(try directory.domain(named: DomainName("file")) == nil)
        #expect(try directory.domain(named: DomainName("missing")) == nil)
    }

    @Test func aMissingRootHasNoDomains() throws {
        let folder = try TemporaryFolder()
        #expect(try DomainDirectory(root: folder.path.appending("none")).domains().isEmpty)
    }

    @Test func aLinkLeadsToStateElsewhere() throws {
        let folder = try TemporaryFolder()
        let real = try FakeDomain("real", in: folder)
        let root = try folder.makeFolder("root")
        #expect(symlink(real.state.string, root.appending("linked").string) == 0)
        let found = try #require(try DomainDirectory(root: root).domain(named: DomainName("linked")))
        #expect(found.state == real.state)
        #expect(found.socket == real.state.appending("control.sock"))
    }

    @Test func anUnreadableDomainIsListed() throws {
        let folder = try TemporaryFolder()
        _ = try FakeDomain("good", in: folder)
        try folder.makeFolder("replica/broken/tree")
        try folder.makeFolder("replica/new/tree")
        try folder.write("{", to: "replica/broken/domain.json")
        try folder.write(#"{"format":99,"name":"new","store":"x","options":[]}"#, to: "replica/new/domain.json")
        let root = folder.path.appending("replica")
        #expect(symlink("/nonexistent/disk", root.appending("away").string) == 0)
        var unreadable: [String] = []
        let domains = try DomainDirectory(root: root).domains { name, _ in unreadable.append(name.text) }
        #expect(domains.map(\.name.text) == ["good"])
        #expect(unreadable.sorted() == ["away", "broken", "new"])
        for name in unreadable {
            #expect(throws: (any Error).self) { try DomainDirectory(root: root).domain(named: DomainName(name)) }
        }
    }

    @Test func aStateWithoutATreeIsNotADomain() throws {
        let folder = try TemporaryFolder()
        let fake = try FakeDomain("half", in: folder)
        #expect(rmdir(fake.state.appending("tree").string) == 0)
        let directory = DomainDirectory(root: folder.path.appending("replica"))
        #expect(try directory.domain(named: DomainName("half")) == nil)
        #expect(try directory.domains().isEmpty)
    }

    @Test func theFirstRootWins() throws {
        let one = try TemporaryFolder()
        let two = try TemporaryFolder()
        let first = try FakeDomain("a", in: one)
        _ = try FakeDomain("a", in: two)
        _ = try FakeDomain("b", in: two)
        let roots = [one, two].map { DomainDirectory(root: $0.path.appending("replica")) }
        #expect(try roots.domains().map(\.name.text) == ["a", "b"])
        #expect(try roots.domain(named: DomainName("a"))?.state == first.state)
        #expect(try roots.domain(storedAt: StoreURL("file:///srv/b"))?.name.text == "b")
        #expect(try roots.domain(storedAt: StoreURL("file:///srv/c")) == nil)
        // The same directory, spelled otherwise.
        for text in ["FILE:///srv/b", "file:////srv//b", "file:///srv/b/", "file:///srv/./b", "file:///%73rv/b"] {
            #expect(try roots.domain(storedAt: StoreURL(text))?.name.text == "b", "\(text)")
        }
        for text in ["file:///srv/x/../b", "file:///srv", "file:///srv/b/b", "sftp://srv/b"] {
            #expect(try roots.domain(storedAt: StoreURL(text)) == nil, "\(text)")
        }
    }

    @Test func recordsAreReadAsWritten() throws {
        let record = DomainRecord(
            name: try DomainName("ü"), store: try StoreURL("file:///s"), options: ["cache-max=1G"])
        #expect(try DomainRecord(json: record.json()) == record)
    }
}

/// The domain of a mount.
@Suite struct DomainSelectionTests {
    let folder: TemporaryFolder
    let roots: [DomainDirectory]

    init() throws {
        folder = try TemporaryFolder()
        _ = try FakeDomain("photos", in: folder)
        roots = [DomainDirectory(root: folder.path.appending("replica"))]
    }

    private func select(_ words: String...) throws -> DomainSelection {
        guard case .mount(let request) = try Invocation(words) else { throw MountUsageError("not a mount") }
        return try DomainSelection(request, in: roots)
    }

    @Test(arguments: [
        ("photos", "ro"), ("file:///srv/photos", "ro"), ("file:////srv/./photos/", "ro"),
        ("file:///srv/%70hotos", "ro"),
        ("photos", "store=file:///srv//photos"), ("file:///srv/photos/", "store=file:///srv/photos"),
    ])
    func domainsAreFoundByNameAndByStore(spec: String, options: String) throws {
        guard case .existing(let found) = try select(spec, "/mnt", "-o", options) else {
            Issue.record("not found")
            return
        }
        #expect(found.name.text == "photos")
    }

    @Test(arguments: [
        ("new", "store=file:///srv/x", "new"), ("file:///srv/music", "ro", "music"),
        ("file:///other/photos", "ro", "photos 2"), ("file:///", "ro", "file"), ("file:///srv/.x", "ro", "x"),
    ])
    func missingFoldersAreCreated(spec: String, options: String, name: String) throws {
        guard case .new(let found, _, let root) = try select(spec, "/mnt", "-o", options) else {
            Issue.record("not new")
            return
        }
        #expect(found.text == name)
        #expect(root.root == roots[0].root)
    }

    @Test func invalidNamesAreRefused() throws {
        #expect(throws: ControlFailure(.noSuchDomain, "no domain named new; store=URL creates one")) {
            try select("new", "/mnt")
        }
        #expect(throws: ControlFailure(.domainExists, "domain photos has another store: file:///srv/photos")) {
            try select("photos", "/mnt", "-o", "store=file:///srv/x")
        }
        #expect(throws: ControlFailure(.noSuchDomain, "no domain named x")) {
            try DomainSelection.existing(DomainName("x"), in: roots)
        }
        #expect(throws: ControlFailure(.domainExists, "there is a domain named photos already")) {
            try DomainSelection.new(DomainName("photos"), store: StoreURL("file:///x"), in: roots)
        }
    }
}
