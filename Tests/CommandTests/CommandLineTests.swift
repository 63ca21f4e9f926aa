import Foundation
import ReplicaControl
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica

/// `replica` as a program, against a daemon in this process.
@Suite(.serialized) struct CommandLineTests {
    /// Every request that a command sends, and how it ends.
    @Test(
        arguments: [
            (["pin", "photos:a/b"], .pin(path: path("a/b")), "photos:a/b is pinned"),
            (["pin", "photos:a", "--wait"], .pin(path: path("a"), wait: true), "photos:a is pinned and downloaded"),
            (["unpin", "photos:a"], .unpin(path: path("a")), "photos:a is no longer pinned"),
            (["resend", "photos:a"], .resend(path: path("a"), fields: nil), "photos:a is being uploaded again"),
            (
                ["resend", "photos:a", "--fields", "mode,tags"], .resend(path: path("a"), fields: ["mode", "tags"]),
                "photos:a is being uploaded again"
            ),
            (["reimport", "photos:"], .reimport(path: .root), "photos: is being uploaded again"),
            (
                ["download", "photos:a"], .download(path: path("a"), range: nil, recursive: false, wait: false),
                "photos:a is being downloaded"
            ),
            (
                ["download", "photos:a", "--recursive", "--wait"],
                .download(path: path("a"), range: nil, recursive: true, wait: true),
                "photos:a is downloaded, with everything below it"
            ),
            (
                ["download", "photos:a", "--range", "5,7", "--wait"],
                .download(path: path("a"), range: ByteRange(offset: 5, length: 7), recursive: false, wait: true),
                "the range of photos:a is downloaded"
            ),
            (["evict", "photos:a"], .evict(path: path("a"), strict: false), "photos:a is evicted"),
            (["evict", "--strict", "photos:a"], .evict(path: path("a"), strict: true), "photos:a is evicted"),
            (["forget", "photos:a"], .forget(path: path("a")), "photos:a is forgotten"),
            (["connect"], .connect, "connected"),
            (
                ["disconnect", "photos", "--reason", "on a plane"],
                .disconnect(reason: "on a plane", temporary: false), "disconnected"
            ),
            (
                ["disconnect", "photos", "--reason", "update", "--temporary"],
                .disconnect(reason: "update", temporary: true), "disconnected until the daemon is restarted"
            ),
            (["wait", "photos"], .wait(path: .root), "photos is stable"),
            (["wait", "photos:a", "--timeout", "60"], .wait(path: path("a")), "photos:a is stable"),
            (["retry"], .retry(path: nil), "retrying"), (["retry", "photos"], .retry(path: nil), "retrying"),
            (["retry", "photos:a"], .retry(path: path("a")), "retrying"),
            (["approve"], .approve, "what was held is approved"),
            (["restore"], .restore, "the items are uploaded again"),
            (
                ["resolve", "photos:a", "--keep", "both"], .resolve(path: path("a"), keep: .both),
                "photos:a is resolved"
            ),
            (
                ["resolved", "notAuthenticated"], .resolved(code: "notAuthenticated"),
                "notAuthenticated is marked as resolved"
            ),
            (["unmount", "photos", "--flush"], .unmount(flush: true), "photos is unmounted"),
            (["remove", "photos"], .remove(keep: .dirty), "photos is removed"),
            (["remove", "--all", "--yes", "--keep", "none"], .remove(keep: .none), "photos is removed"),
            (["pending"], .pending(since: nil), ""), (["materialized", "photos"], .materialized(since: nil), ""),
            (["pending", "--since", ""], .pending(since: ""), ""),
            (["materialized", "photos", "--since", "7.9"], .materialized(since: "7.9"), ""),
            (["conflicts"], .conflicts, ""),
            (["watch"], .watch, ""),
        ] as [([String], ControlRequest, String)])
    func sends(arguments: [String], request: ControlRequest, line: String) async throws {
        let domain = try FakeDomain { _, _ in .done }
        let text = try await run(Programs.replica, arguments, environment: domain.environment)
        #expect(text.code == 0 && text.errors == "", "\(text)")
        #expect(text.output == (line.isEmpty ? "" : line + "\n"))
        let json = try await run(Programs.replica, arguments + ["--json"], environment: domain.environment)
        #expect(json.code == 0 && json.output == (line.isEmpty ? "" : "{}\n"), "\(json)")
        // On a busy machine, it asks in between whether the daemon still lives.
        #expect(domain.service.requests.filter { $0 != .hello } == [request, request])
        try await domain.stop()
    }

    static func path(_ text: String) -> ControlPath { ControlPath(bytes: text.utf8) }

    @Test(arguments: ExitReason.allCases.filter { $0 != .success })
    func failuresExitWithTheirCode(code: ExitReason) async throws {
        let domain = try FakeDomain { _, _ in throw ControlFailure(code, "no such luck") }
        let result = try await Programs.replica("approve", in: domain.folder)
        #expect(result.isOneClearLine(code: code.rawValue, containing: "replica: no such luck"), "\(result)")
        try await domain.stop()
    }

    @Test(arguments: [
        (["frob"], "Unexpected argument 'frob'"), (["status", "nope"], "no domain named nope"),
        (["status", "--frob"], "Unknown option '--frob'"), (["wait"], "Missing expected argument"),
        (["wait", "photos", "--timeout", "soon"], "--timeout"),
        (["wait", "photos", "--timeout", "nan"], "--timeout takes a number of seconds between 0 and 1000000000"),
        (["wait", "photos", "--timeout", "1e400"], "--timeout takes a number of seconds between 0 and 1000000000"),
        (["wait", "photos", "--timeout=-1"], "--timeout takes a number of seconds between 0 and 1000000000"),
        (["approve", "photos", "b"], "Unexpected argument 'b'"),
        (["download", "photos:a", "--range", "5"], "OFFSET,LENGTH"),
        (["download", "photos:a", "--range=-5,2"], "OFFSET,LENGTH"),
        (["download", "photos:a", "--range", "9223372036854775807,2"], "OFFSET,LENGTH"),
        (["download", "photos:a", "--range", "5,7", "--recursive"], "not both"), (["remove"], "--all"),
        (["remove", "photos", "--all"], "--all"), (["remove", "photos", "--keep", "some"], "--keep"),
        (["resolve", "photos:a"], "--keep"), (["disconnect", "photos"], "--reason"),
        (["import", "a/b", "/tmp", "--store", "file:///s"], "can't contain '/'"),
        (["import", "a", "/tmp"], "--store"), (["import", "a"], "directory"),
        (["import", "photos", "/tmp", "--store", "file:///s"], "there is a domain named photos already"),
        (
            ["import", "a", "/tmp", "--store", "gopher://x"],
            "gopher://x: no store for 'gopher://': there is no replica-store-gopher in /"
        ),
        (["import", "a", "/tmp", "--store", "https://me:topsecret@x"], "the store URL contains a secret"),
        (["import", "a", "/nonexistent/dir", "--store", "file:///s"], "/nonexistent"),
        (["add", "a", "--store", "nonsense"], "not a store URL"), (["pin", "/"], "is not in a mounted domain"),
        (["pin", "/nonexistent/x"], "/nonexistent: No such file"), (["pin", "nope:a"], "no domain named nope"),
        (["mount", "nope", "/mnt"], "no domain named nope"), (["unmount", "nope"], "no domain named nope"),
    ])
    func invalidInputIsReportedInOneLine(arguments: [String], text: String) async throws {
        let domain = try FakeDomain()
        let result = try await run(Programs.replica, arguments, environment: domain.environment)
        #expect(result.isOneClearLine(code: result.code, containing: text) && result.code > 0, "\(result)")
        #expect(!result.errors.contains("topsecret"))
    }

    @Test func invalidInputExitsWithItsCode() async throws {
        let domain = try FakeDomain()
        for (arguments, code) in [
            (["frob"], ExitReason.usage), (["status", "nope"], .noSuchDomain),
            (["import", "photos", "/tmp", "--store", "file:///s"], .domainExists),
            (["import", "a", "/tmp", "--store", "gopher://x"], .badStore),
            (["import", "a", "/nonexistent/d", "--store", "file:///s"], .cannotImport), (["pin", "/"], .notInDomain),
            (["unmount", "photos"], .notRunning),
        ] {
            let result = try await run(Programs.replica, arguments, environment: domain.environment)
            #expect(result.code == code.rawValue, "\(arguments): \(result)")
        }
    }

    @Test func anAmbiguousCommandAsksForADomain() async throws {
        let folder = try TemporaryFolder()
        let none = try await Programs.replica("pending", in: folder)
        #expect(none.code == ExitReason.noSuchDomain.rawValue)
        #expect(none.errors == "replica: there is no domain yet; 'replica import' creates one\n", "\(none)")
        for name in ["a", "b"] { _ = try FakeDomain(name, in: folder) }
        let two = try await Programs.replica("pending", in: folder)
        #expect(two.isOneClearLine(code: ExitReason.usage.rawValue, containing: "which domain? there are a, b"))
    }

    private static let noSuchDomain = "no domain named nope; see 'replica list'"
    private static let nowhere = "is not in a mounted domain; use NAME:PATH for domains that are not mounted"

    @Test(
        arguments: [
            (["status", "nope"], ExitReason.noSuchDomain, noSuchDomain),
            (["pin", "nope:a"], .noSuchDomain, noSuchDomain),
            (["status", "nope:a"], .noSuchDomain, noSuchDomain), (["wait", "nope"], .noSuchDomain, noSuchDomain),
            (["retry", "nope:"], .noSuchDomain, noSuchDomain), (["approve", "nope"], .noSuchDomain, noSuchDomain),
            (["mount", "nope", "/mnt"], .noSuchDomain, noSuchDomain),
            (["remove", "nope"], .noSuchDomain, noSuchDomain),
            (["unmount", "nope"], .noSuchDomain, noSuchDomain), (["pin", "/"], .notInDomain, "/ \(nowhere)"),
            (["unmount", "photos"], .notRunning, "photos is not mounted and has no daemon"),
            (
                ["unmount", "photos:a/b"], .usage,
                "photos:a/b is inside the domain photos: 'replica unmount photos' unmounts it"
            ),
            (["pin", "/nonexistent/x"], .noSuchItem, "/nonexistent: No such file or directory"),
            (["pin", ""], .usage, "a path can't be empty"), (["pin", ":a"], .usage, "a domain's name can't be empty"),
            (["mount", "photos", "/nonexistent/x"], .noSuchItem, "/nonexistent: No such file or directory"),
            (
                ["import", "photos", "/tmp", "--store", "file:///s"], .domainExists,
                "there is a domain named photos already"
            ),
            (["import", "a/b", "/tmp", "--store", "file:///s"], .usage, "a domain's name can't contain '/'"),
            (
                ["import", "a", "/nonexistent/d", "--store", "file:///s"], .cannotImport,
                "/nonexistent: No such file or directory"
            ),
            (["add", "a", "--store", "nonsense"], .badStore, "not a store URL; one looks like file:///srv/store"),
            (["remove"], .usage, "give a domain's name or --all"),
            (["remove", "a", "--all"], .usage, "give a domain's name or --all"),
            (
                ["download", "photos:a", "--range", "5,7", "--recursive"], .usage,
                "give --range or --recursive, not both"
            ),
            (
                ["download", "photos:a", "--range", "5"], .usage,
                "The value '5' is invalid for '--range <range>': a range is OFFSET,LENGTH in bytes, not '5'"
            ),
            (
                ["mount", "photos", "/", "--at-login", "--at-boot"], .usage,
                "only one of --at-login, --at-boot, --not-at-login and --not-at-boot"
            ),
            (["mount", "photos"], .usage, "a directory is required"),
            (
                ["mount", "photos", "/", "--not-at-boot"], .usage,
                "no directory with --not-at-login and --not-at-boot"
            ),
            (["log", "photos"], .noSuchItem, "photos has no daemon.log: nothing was logged yet"),
            (
                ["add", "a", "--store", "file:///nonexistent/s"], .badStore,
                "file:///nonexistent/s: no such directory; --create (-o create) creates it"
            ),
            (["logout", "s3://bucket"], .failed, "no login is saved for s3://bucket"),
        ] as [([String], ExitReason, String)])
    func messagesAreExact(arguments: [String], code: ExitReason, line: String) async throws {
        let domain = try FakeDomain()
        let result = try await run(Programs.replica, arguments, environment: domain.environment)
        #expect(result.errors == "replica: \(line)\n" && result.output == "", "\(result)")
        #expect(result.code == code.rawValue)
    }

    @Test func aDamagedDomainIsReportedWithItsPath() async throws {
        let domain = try FakeDomain()
        try domain.folder.makeFolder("replica/broken/tree")
        #expect(chmod("\(domain.folder.path)/replica/broken", 0o700) == 0)
        try domain.folder.write("{", to: "replica/broken/domain.json")
        let line = "replica: \(domain.folder.path)/replica/broken can't be read: domain.json is damaged\n"
        let status = try await Programs.replica("status", "broken", in: domain.folder)
        #expect(status.errors == line && status.output == "" && status.code == ExitReason.failed.rawValue)
        let list = try await Programs.replica("list", in: domain.folder)
        #expect(list.errors == line && list.output.hasPrefix("photos\tstopped") && list.code == 0, "\(list)")
    }

    /// A path may contain any bytes: terminals interpret control characters, and a message is one line.
    @Test func messagesContainNoControlCharacters() async throws {
        let domain = try FakeDomain { _, _ in throw ControlFailure(.refused, "photos:a\u{1B}[2J\nb: pinned") }
        let result = try await Programs.replica("approve", in: domain.folder)
        #expect(result.errors == "replica: photos:a?[2J?b: pinned\n")
        try await domain.stop()
    }

    @Test func aFolderIsNoLog() async throws {
        let domain = try FakeDomain()
        let log = domain.state.appending("daemon.log")
        #expect(mkdir(log.string, 0o700) == 0)
        let result = try await Programs.replica("log", "photos", in: domain.folder)
        #expect(result.errors == "replica: \(log): not a file, but a link or a folder\n", "\(result)")
    }

    @Test func aDaemonThatDoesNotEndIsReported() async throws {
        let domain = try FakeDomain { _, _ in .done }
        let lock = open(domain.state.appending("lock").string, O_CREAT | O_RDWR, 0o600)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        let result = try await Programs.replica("unmount", "photos", in: domain.folder)
        #expect(result.code == 0 && result.output == "photos is unmounted\n", "\(result)")
        #expect(result.errors == "replica: the daemon of photos has not ended yet\n")
        try await domain.stop()
    }

    @Test func unmountingDoesNotDependOnCounts() async throws {
        let domain = try FakeDomain { request, _ in
            if request == .status { throw ControlFailure(.failed, "no such luck") }
            return .done
        }
        let result = try await Programs.replica("unmount", "photos", in: domain.folder)
        #expect(result.code == 0 && result.output == "photos is unmounted\n", "\(result)")
        #expect(result.errors == "replica: pending changes cannot be determined: no such luck\n")
        #expect(domain.service.requests == [.status, .unmount(flush: false)])
        try await domain.stop()
    }

    @Test(arguments: [["status", "photos:a"], ["path", "photos", "7"]])
    func anAnswerOfAnotherKindIsRefused(arguments: [String]) async throws {
        let domain = try FakeDomain { _, _ in .done }
        let result = try await run(Programs.replica, arguments, environment: domain.environment)
        #expect(result.code == ExitReason.wrongProtocol.rawValue, "\(result)")
        #expect(result.errors == "replica: the daemon's answer isn't an item\n")
        try await domain.stop()
    }

    @Test func aMountedDomainIsBusy() async throws {
        let domain = try FakeDomain { _, _ in
            .daemon(DaemonStatus(name: "photos", pid: 7, mountpoint: ControlFilePath(bytes: Array("/mnt/p".utf8))))
        }
        let result = try await Programs.replica("mount", "photos", "/", in: domain.folder)
        #expect(result.code == ExitReason.busy.rawValue && result.output == "", "\(result)")
        #expect(result.errors == "replica: photos is already mounted on /mnt/p\n")
        try await domain.stop()
    }

    @Test func waitTimesOut() async throws {
        let domain = try FakeDomain { _, _ in
            try await Task.sleep(for: .seconds(3600))
            return .done
        }
        let result = try await Programs.replica("wait", "photos", "--timeout", "0.1", in: domain.folder)
        #expect(
            result.isOneClearLine(code: ExitReason.timedOut.rawValue, containing: "replica: timed out after 0.1 s\n"))
        try await domain.stop()
    }

    /// For a folder, items that can't be evicted are only listed, except with a strict eviction.
    @Test func aRefusedEvictionIsReported() async throws {
        let refused = EvictionRefusal(path: Self.path("a"), code: "unsyncedEdits", message: "not in the store yet")
        let domain = try FakeDomain { _, _ in .evicted(EvictionResult(items: 0, bytes: 0, refused: [refused])) }
        let strict = try await Programs.replica("evict", "photos:a", "--strict", in: domain.folder)
        #expect(strict.code == ExitReason.refused.rawValue)
        #expect(strict.output == "0 items evicted, 0 B freed\na was not evicted: not in the store yet\n")
        let one = try await Programs.replica("evict", "photos:a", in: domain.folder)
        #expect(one.code == ExitReason.refused.rawValue && one.output == strict.output)
        let rest = try await Programs.replica("evict", "photos:", in: domain.folder)
        #expect(rest.code == 0 && rest.output == strict.output)
        try await domain.stop()
    }

    /// What fails for one of several paths is reported, and the others are done all the same.
    @Test(arguments: ["evict", "download", "pin", "unpin", "forget", "reimport", "resend"])
    func eachPathIsARequest(command: String) async throws {
        let domain = try FakeDomain { request, _ in
            guard request.path != Self.path("b") else { throw ControlFailure(.refused, "photos:b: pinned") }
            return .done
        }
        let result = try await Programs.replica(command, "photos:a", "photos:b", "photos:c", in: domain.folder)
        #expect(result.code == ExitReason.refused.rawValue, "\(result)")
        #expect(result.errors == "replica: photos:b: pinned\n")
        let lines = result.output.split(separator: "\n")
        #expect(
            lines.count == 2 && lines[0].hasPrefix("photos:a is ") && lines[1].hasPrefix("photos:c is "), "\(result)")
        #expect(domain.service.requests.map(\.path) == ["a", "b", "c"].map(Self.path))
        try await domain.stop()
    }

    /// A script must not take a part of the output for all of it.
    @Test(
        arguments: [
            "status", "status photos --json", "list", "pending", "evict photos:a", "--help", "help status", "--version",
            "completion bash", "stores",
        ])
    func failedOutputIsAFailure(words: String) async throws {
        let domain = try FakeDomain { request, events in
            if case .pending = request { try await events.send(.items([MessageTests.itemStatus])) }
            return request == .status ? .domain(MessageTests.domainStatus) : .done
        }
        for (place, reason) in [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")] {
            let result = try await run(
                "/bin/sh", "-c", "exec '\(Programs.replica)' \(words) \(place)", environment: domain.environment)
            #expect(result.code == 1 && result.errors == "replica: standard output: \(reason)\n", "\(place) \(result)")
        }
        try await domain.stop()
    }

    @Test(arguments: ["--help", "--version"]) func failedOutputOfTheOtherProgramIsAFailure(word: String) async throws {
        let result = try await run("/bin/sh", "-c", "exec '\(Programs.mount)' \(word) >/dev/full")
        #expect(result.code == 2 && result.errors == "mount.replica: standard output: No space left on device\n")
    }

    @Test func pathsInAMountFindTheirDomain() async throws {
        let folder = try TemporaryFolder()
        let mountpoint = try folder.makeFolder("mnt")
        try folder.makeFolder("mnt/sub")
        #expect(symlink("nowhere", mountpoint.appending("sub/link").string) == 0)
        let domain = try FakeDomain(in: folder) { request, _ in
            guard request == .hello else { return .done }
            return .daemon(DaemonStatus(name: "photos", pid: getpid(), mountpoint: ControlFilePath(mountpoint)))
        }
        for (path, expected) in [
            ("\(mountpoint)", ""), ("\(mountpoint)/", ""), ("\(mountpoint)/sub/new", "sub/new"),
            ("\(mountpoint)/sub/../sub/link", "sub/link"), ("\(mountpoint)/sub/.", "sub"),
        ] {
            let result = try await Programs.replica("pin", path, in: folder)
            #expect(result.code == 0, "\(result)")
            #expect(domain.service.requests.last == .pin(path: Self.path(expected)))
        }
        let below = try await Programs.replica("unmount", "\(mountpoint)/sub", in: folder)
        #expect(
            below.isOneClearLine(
                code: ExitReason.usage.rawValue,
                containing: "/sub is inside the domain photos: 'replica unmount photos'"))
        #expect(domain.service.requests.last == .hello)
        let outside = try await Programs.replica("pin", "\(mountpoint)x", in: folder)
        let line = "\(mountpoint)x is not in a mounted domain; use NAME:PATH for domains that are not mounted"
        #expect(outside.code == ExitReason.notInDomain.rawValue && outside.errors == "replica: \(line)\n", "\(outside)")
        try await domain.stop()
    }

    @Test func namesThatAreNotUTF8AreSentAsBytes() async throws {
        let domain = try FakeDomain { _, _ in .done }
        // bash makes the byte; Foundation's Process could not pass it.
        let command = "exec '\(Programs.replica)' pin $'photos:a/\\xff'"
        let result = try await run("/bin/bash", "-c", command, environment: domain.environment)
        #expect(result.code == 0, "\(result)")
        #expect(domain.service.requests == [.pin(path: ControlPath(bytes: Array("a/".utf8) + [0xFF]))])
        try await domain.stop()
    }
}
