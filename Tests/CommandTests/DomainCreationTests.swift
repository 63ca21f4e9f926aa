import Foundation
import Logging
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import mount_replica

/// A domain is created completely or not at all, regardless of which step fails.
@Suite struct DomainCreationTests {
    private struct Interrupted: Error {}

    /// Inode, type, mode, size, times and attributes of all entries, except for those that a rename changes.
    private static func picture(_ path: FilePath) async throws -> String {
        let script = #"cd "$1" && find . -printf '%i %y %m %s %T@ %l %p\n' | sort; getfattr -Rhd -m - . | sort"#
        let result = try await run("/bin/sh", "-c", script, "sh", path.string)
        #expect(result.code == 0, "\(result)")
        return result.output
    }

    private static func bringUp(_ words: [String], in folder: TemporaryFolder, _ creation: DomainCreation) throws {
        let plan = try #require(
            try DaemonPlan(try Invocation(words), in: [DomainDirectory(root: folder.path.appending("data/replica"))]))
        var log = Logger(label: "replica")
        log.logLevel = .critical
        do {
            let (daemon, server) = try DaemonLaunch.bringUp(plan, creation, log)
            daemon.finish()
            daemon.runUntilEnd { server.stop() }
        } catch {
            throw creation.rolledBack(after: error)
        }
    }

    private static func makeFiles(in folder: TemporaryFolder) async throws -> FilePath {
        let source = try folder.makeFolder("src")
        try folder.makeFolder("src/sub")
        try folder.write("one", to: "src/one", mode: 0o640)
        try folder.write("two", to: "src/sub/two")
        #expect(symlink("one", source.appending("link").string) == 0)
        #expect(try await run("/usr/bin/setfattr", "-n", "user.mine", "-v", "x", source.string).code == 0)
        return source
    }

    @Test(arguments: [false, true], DomainCreation.Step.allCases)
    func aFailedCreationIsRolledBack(imports: Bool, failing: DomainCreation.Step) async throws {
        guard failing != .mount || geteuid() == 0 else { return }
        let folder = try TemporaryFolder()
        let source = try await Self.makeFiles(in: folder)
        let (data, mountpoint) = (try folder.makeFolder("data"), try folder.makeFolder("mnt"))
        // The state is not at the default place, so that a link has to be created.
        var options = "store=file://\(folder.path)/store,create,state=\(folder.path)/far/state"
        if imports { options += ",import=\(source)" }
        let words = ["d", mountpoint.string, "-o", options]
        let before = try await Self.picture(folder.path)
        let done = Locked<[DomainCreation.Step]>([])
        let failure = await #expect(throws: ControlFailure.self) {
            try await onThread {
                try Self.bringUp(
                    words, in: folder,
                    DomainCreation {
                        step in
                        done.withLock { $0.append(step) }
                        if step == failing { throw Interrupted() }
                    })
            }
        }
        #expect(failure == ControlFailure(.failed, "Interrupted()"))
        #expect(done.withLock { $0.last } == failing)
        // Folders that had entries for a moment have a new modification time.
        let after = try await Self.picture(folder.path)
        #expect(Self.withoutTimes(after, of: [".", "./data"]) == Self.withoutTimes(before, of: [".", "./data"]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: data.string) == [])
        // The next attempt succeeds.
        try await onThread { try Self.bringUp(words, in: folder, DomainCreation()) }
        let tree = folder.path.appending("far/state/tree")
        #expect(
            FileManager.default.contents(atPath: tree.appending("one").string) == (imports ? Data("one".utf8) : nil))
        #expect(access(source.string, F_OK) == (imports ? -1 : 0))
    }

    private static func withoutTimes(_ picture: String, of folders: [String]) -> [String] {
        picture.split(separator: "\n").map { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard let path = words.last, folders.contains(String(path)) else { return String(line) }
            return words.enumerated().filter { $0.offset != 4 && $0.offset != 3 }.map { String($0.element) }
                .joined(separator: " ")
        }
    }

    @Test func aFailedRollbackIsReportedAndKeepsTheDomain() async throws {
        let folder = try TemporaryFolder()
        let source = try await Self.makeFiles(in: folder)
        let words = ["--import", "d", source.string, "file://\(folder.path)/store", "-o", "create"]
        let failure = await #expect(throws: ControlFailure.self) {
            try await onThread {
                try Self.bringUp(
                    words, in: folder,
                    DomainCreation { step in
                        guard step == .listen else { return }
                        // Another process takes the name meanwhile.
                        #expect(mkdir(source.string, 0o755) == 0)
                        throw Interrupted()
                    })
            }
        }
        let tree = folder.path.appending("data/replica/d/tree")
        let line = "Interrupted(); what was in \(source) can't be moved back (File exists) and is in \(tree)"
        #expect(failure == ControlFailure(.failed, line))
        #expect(FileManager.default.contents(atPath: tree.appending("sub/two").string) == Data("two".utf8))
        let directory = DomainDirectory(root: folder.path.appending("data/replica"))
        #expect(try directory.domains().map(\.name.text) == ["d"])
    }

    /// A store that is a program creates no folder, and the message says so.
    @Test func aFolderThatCannotBeCreatedIsReported() async throws {
        let folder = try TemporaryFolder()
        let root = DomainDirectory(root: folder.path.appending("data/replica"))
        func failure(_ options: String) async throws -> ControlFailure? {
            try await onThread {
                var domain = NewDomain(
                    name: try DomainName("d"), storeURL: try StoreURL("dav://host/none"),
                    options: try MountOptions(options), directory: nil, mountpoint: nil, directories: [root], root: root
                )
                domain.tryOut = { _, _ in throw ControlFailure(.badStore, "there is no folder") }
                do { _ = try domain.make(DomainCreation()) } catch let failure as ControlFailure { return failure }
                return nil
            }
        }
        let words = "there is no folder (--create works for file: and sftp: only)"
        #expect(try await failure("create") == ControlFailure(.badStore, words))
        #expect(try await failure("ro") == ControlFailure(.badStore, "there is no folder"))
    }

    private static func domain(_ name: String, _ store: String, in folder: TemporaryFolder) throws -> NewDomain {
        let root = DomainDirectory(root: folder.path.appending("data/replica"))
        return NewDomain(
            name: try DomainName(name), storeURL: try StoreURL("file://\(folder.path)/\(store)"),
            options: MountOptions(),
            directory: nil, mountpoint: nil, directories: [root], root: root)
    }

    /// Of two domains that must not overlap, both were checked before either existed.
    @Test func aDomainCreatedMeanwhileIsNotOverlapped() async throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("store/sub")
        try await onThread {
            var first = try Self.domain("a", "store", in: folder)
            first.tryOut = { url, credentials in
                _ = try Self.domain("b", "store/sub", in: folder).make(DomainCreation())
                return try StoreFactory.tryOut(url, credentials: credentials)
            }
            let line = "the store \(folder.path)/store overlaps the store of the domain b"
            #expect(throws: ControlFailure(.badStore, line)) { try first.make(DomainCreation()) }
            #expect(try first.directories.domains().map(\.name.text) == ["b"])
        }
    }

    /// With a directory of domains of its own, another process may have begun one at the same place.
    @Test func oneProcessAtATimeUsesAPlace() async throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("store")
        let state = try folder.makeFolder("data/replica/a")
        for path in ["data", "data/replica", "data/replica/a"] { chmod(folder.path.appending(path).string, 0o700) }
        let held = open(state.string, O_RDONLY | O_DIRECTORY)
        defer { close(held) }
        #expect(flock(held, LOCK_EX) == 0)
        try await onThread {
            let line = "another process is creating a domain at \(state): try again"
            #expect(throws: ControlFailure(.busy, line)) {
                try Self.domain("a", "store", in: folder).make(DomainCreation())
            }
        }
    }

    /// From the last check to the record, one process at a time.
    @Test func oneProcessAtATimeCreatesDomains() async throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("store")
        let root = try folder.makeFolder("data/replica")
        chmod(folder.path.appending("data").string, 0o700)
        let lock = open(root.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX) == 0)
        try await onThread {
            var domain = try Self.domain("a", "store", in: folder)
            domain.timeLimit = .zero
            let line = "another process is creating a domain in \(root): try again"
            #expect(throws: ControlFailure(.busy, line)) { try domain.make(DomainCreation()) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: root.string) == [])
            close(lock)
            // The first has released it when the second begins.
            for name in ["a", "b"] { _ = try Self.domain(name, "store", in: folder).make(DomainCreation()) }
        }
    }
}
