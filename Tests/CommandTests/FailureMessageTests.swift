import Foundation
import Glibc
import Logging
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import mount_replica

/// The exact texts of failures that no other suite is about (`MessageTextTests`).
@Suite struct FailureMessageTests {
    @Test(
        arguments: [
            (Errno.notDirectory, ExitReason.cannotImport, "/d is not a directory"),
            (.noSuchFileOrDirectory, .cannotImport, "/d: no such directory"),
            (.resourceBusy, .cannotImport, "/d is a mountpoint: unmount it first"),
            (
                .tooManySymbolicLinkLevels, .cannotImport,
                "/d: a symbolic link is on the way; name the directory by its own path"
            ),
            (.stale, .cannotImport, "/d was replaced meanwhile; nothing was changed"),
            (.notPermitted, .cannotImport, "/d belongs to another user"),
            (.invalidArgument, .cannotImport, "/d is in a domain or contains one"),
            (.notSupported, .unsupported, "the store does not accept imports; /d is unchanged"),
            (.fileExists, .domainExists, "the domain already exists"),
            (.ioError, .cannotImport, "/d: Input/output error"),
        ] as [(Errno, ExitReason, String)])
    func theReasonForARefusedImportIsNamed(errno: Errno, code: ExitReason, line: String) {
        #expect(ControlFailure(errno, importing: "/d") == ControlFailure(code, line))
    }

    @Test func wrongFieldsAndRangesAreNamed() {
        let fields =
            "contents, filename, parent, lastUsedDate, tags, favoriteRank, modificationDate, mode, extendedAttributes"
        #expect(
            throws: ControlFailure(.usage, "'size' is not a field of an item; the fields are: \(fields)")
        ) { try ItemFields(name: "size") }
        #expect(throws: ControlFailure(.usage, "the range is too large")) {
            try Range<Int64>(ByteRange(offset: .max, length: 1))
        }
    }

    @Test func aDomainNeedsAPlaceAndAName() throws {
        let folder = try TemporaryFolder()
        let (name, store) = (try DomainName("d"), try StoreURL("file:///srv/photos"))
        #expect(
            throws: ControlFailure(
                .failed, "no directory for domains: neither XDG_DATA_HOME nor a home directory is set")
        ) { try DomainSelection.new(name, store: store, in: []) }
        let domain = try FakeDomain("other", in: folder)
        let root = folder.path.appending("replica")
        for number in 1...1000 {
            let link = root.appending(number == 1 ? "photos" : "photos \(number)")
            #expect(symlink(domain.state.string, link.string) == 0)
        }
        guard case .mount(let request) = try Invocation(["file:///srv/photos", "/mnt"]) else {
            throw MountUsageError("not a mount")
        }
        let line = "every name like photos is taken: give the domain a name and store=URL"
        #expect(throws: ControlFailure(.domainExists, line)) {
            // All of them are of another store.
            try DomainSelection(request, in: [DomainDirectory(root: root)])
        }
    }

    @Test func aDomainHasOneDaemon() async throws {
        let domain = try FakeDomain { _, _ in
            .daemon(DaemonStatus(name: "photos", pid: 7, mountpoint: ControlFilePath(bytes: Array("/mnt/p".utf8))))
        }
        let location = DomainLocation(
            name: domain.name, state: domain.state,
            record: DomainRecord(name: domain.name, store: try StoreURL("file:///s")))
        let failure = await #expect(throws: ControlFailure.self) {
            try await onThread { try DaemonHandover.whenFree(location) { throw Errno.resourceBusy } }
        }
        #expect(failure == ControlFailure(.busy, "another daemon serves the domain photos"))
        try await domain.stop()
    }

    @Test func aStoppingDaemonMountsNothing() async throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("store")
        let root = DomainDirectory(root: folder.path.appending("replica"))
        let words = ["--add", "d", "file://\(folder.path)/store"]
        let failure = try await onThread {
            let plan = try #require(try DaemonPlan(try Invocation(words), in: [root]))
            var log = Logger(label: "replica")
            log.logLevel = .critical
            let (daemon, server) = try DaemonLaunch.bringUp(plan, DomainCreation(), log)
            daemon.finish()
            let failure = #expect(throws: ControlFailure.self) {
                try daemon.mount(at: folder.path, MountOptions(), isOnlyReason: false)
            }
            daemon.runUntilEnd { server.stop() }
            return failure
        }
        #expect(failure == ControlFailure(.notRunning, "the daemon is stopping"))
    }
}

/// The exact texts of what goes wrong between a command and a daemon.
@Suite(.serialized) struct ConnectionMessageTests {
    @Test func aMissingDaemonIsReported() async throws {
        let domain = try FakeDomain()
        let state = domain.state
        #expect(throws: ControlFailure(.notRunning, "no daemon serves \(state)")) { try ControlClient(state: state) }
    }

    /// It is stopped before it accepts anything, and many are waiting.
    @Test func aDaemonThatAcceptsNoConnectionIsReported() async throws {
        let domain = try FakeDomain()
        let state = domain.state
        let listener = try ControlSocket.listen(state: state)
        defer { close(listener.rawValue) }
        try await onThread {
            var waiting: [FileDescriptor] = []
            defer { for socket in waiting { close(socket.rawValue) } }
            let line = "the daemon of \(state) accepts no connection"
            #expect(throws: ControlFailure(.timedOut, line)) {
                for _ in 0..<1000 { waiting.append(try ControlSocket.connect(state: state, seconds: 1)) }
            }
            #expect(waiting.count < 1000)
            #expect(throws: ControlFailure(.timedOut, "photos: its daemon does not answer")) {
                try ControlClient(state: state, name: DomainName("photos"))
            }
        }
    }

    /// It accepts what the kernel accepts for it, and reads nothing.
    @Test func aDaemonThatDoesNotAnswerIsReported() async throws {
        let domain = try FakeDomain()
        let state = domain.state
        let listener = try ControlSocket.listen(state: state)
        defer { close(listener.rawValue) }
        let line = "photos: its daemon (process \(getpid())) does not answer"
        let failure = await #expect(throws: ControlFailure.self) {
            try await onThread { try ControlClient(state: state, name: DomainName("photos")).request(.connect) }
        }
        #expect(failure == ControlFailure(.timedOut, line))
    }

    @Test func aLostConnectionIsReported() async throws {
        let domain = try FakeDomain()
        let state = domain.state
        let listener = try ControlSocket.listen(state: state)
        defer { close(listener.rawValue) }
        async let accepted: Void = onThread { _ = close(accept(listener.rawValue, nil, nil)) }
        let failure = await #expect(throws: ControlFailure.self) {
            try await onThread { try ControlClient(state: state).request(.connect) }
        }
        try await accepted
        #expect(failure?.code == .notRunning)
        #expect(failure?.message.hasPrefix("the connection to the daemon was lost") == true, "\(failure as Any)")
    }

    /// A long request shows by signs of life that it is carried out: it is not given up.
    @Test func aLongRequestDoesNotTimeOut() async throws {
        let signs = Locked(0)
        let domain = try FakeDomain { request, _ in
            if request == .hello {
                signs.withLock { $0 += 1 }
                return .daemon(DaemonStatus(name: "photos", pid: 7, mountpoint: nil))
            }
            try await Task.sleep(for: .seconds(13))
            return .evicted(EvictionResult(items: 3, bytes: 0, refused: []))
        }
        let result = try await Programs.replica("evict", "photos:a", in: domain.folder)
        #expect(result.code == 0 && result.output == "3 items evicted, 0 B freed\n", "\(result)")
        #expect(signs.withLock { $0 } > 0)
        try await domain.stop()
    }
}
