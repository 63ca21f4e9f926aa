import Foundation
import ReplicaControl
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica

/// How `replica` calls `mount.replica`, with a shell script in its place.
@Suite(.serialized) struct MountProgramTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func replica(_ arguments: String..., mount script: String) async throws -> ProgramResult {
        let program = try await Programs.replicaBesideFakeMount(script: script, in: folder)
        return try await run(program, arguments, environment: ["XDG_DATA_HOME": folder.path.string])
    }

    private func mountArguments() throws -> [String] {
        try String(contentsOfFile: folder.path.appending("arguments").string, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    private static let answer = #"echo '{"id":0,"answer":{"daemon":{"name":"new","pid":7,"protocol":1}}}'"#

    @Test func importCallsMountReplica() async throws {
        try folder.makeFolder("a,b")
        let secret = try folder.write("x", to: "secret,file", mode: 0o600)
        let result = try await replica(
            "import", "new", "\(folder.path)/a,b/", "--store", "file:///s", "--credentials", secret.string, "-o",
            "cache-max=1G", mount: Self.answer)
        #expect(result.code == 0 && result.output.hasPrefix("new is imported"), "\(result)")
        let escaped = secret.string.replacingOccurrences(of: ",", with: "\\,")
        #expect(
            try mountArguments() == [
                "--import", "new", "\(folder.path)/a,b", "file:///s", "-o", "credentials=\(escaped)", "-o",
                "cache-max=1G",
            ])
        // It reads the arguments that it was given.
        guard case .importDirectory(_, let directory, _, let options) = try Invocation(try mountArguments()) else {
            Issue.record("not an import")
            return
        }
        #expect(directory == folder.path.appending("a,b"))
        #expect(options.domain.credentials == secret)
    }

    @Test func importWaitsForTheStoreWhenThatIsAsked() async throws {
        for isAway in [false, true] {
            // The daemon that the import starts is in this process.
            let state = try folder.makeFolder("replica/new\(isAway)")
            let script = """
                mkdir -m 700 '\(state)/tree'; chmod 700 '\(state)'
                cat '\(folder.path)/record' >'\(state)/domain.json'; \(Self.answer)
                """
            let name = try DomainName("new\(isAway)")
            let record = DomainRecord(name: name, store: try StoreURL("file:///s"))
            try folder.write(String(decoding: try record.json(), as: UTF8.self), to: "record")
            let service = ScriptedService { request, _ in
                if isAway { throw ControlFailure(.offline, "the store can't be reached") }
                return .done
            }
            let server = try ControlServer(state: state, service: service)
            let result = try await replica(
                "import", "new\(isAway)", "/tmp", "--store", "file:///s", "--wait", mount: script)
            #expect(service.requests == [.wait(path: .root)])
            if isAway {
                let line = "replica: newtrue is imported, but the store can't be reached"
                #expect(result.isOneClearLine(code: ExitReason.offline.rawValue, containing: line), "\(result)")
            } else {
                let line = "newfalse is imported and in the store; mount it with 'replica mount newfalse DIR'\n"
                #expect(result.code == 0 && result.output == line, "\(result)")
            }
            try await onThread { server.stop() }
        }
    }

    @Test func addCallsMountReplica() async throws {
        let result = try await replica("add", "new", "--store", "file:///s", "--create", "--json", mount: Self.answer)
        #expect(result.output == #"{"daemon":{"name":"new","pid":7,"protocol":1}}"# + "\n", "\(result)")
        #expect(try mountArguments() == ["--add", "new", "file:///s", "-o", "create"])
        guard case .add(_, _, let options) = try Invocation(try mountArguments()) else {
            Issue.record("not an add")
            return
        }
        #expect(options.createsStore)
    }

    @Test func aFailureOfMountReplicaIsReported() async throws {
        let line = #"echo '{"id":0,"failure":{"code":"cannotImport","message":"/x: a mountpoint"}}'; exit 11"#
        let result = try await replica("import", "new", "/tmp", "--store", "file:///s", mount: line)
        #expect(result.isOneClearLine(code: 11, containing: "replica: /x: a mountpoint"), "\(result)")
    }

    @Test func aCrashIsReported() async throws {
        let result = try await replica("import", "new", "/tmp", "--store", "file:///s", mount: "kill -9 $$")
        #expect(
            result.isOneClearLine(code: 1, containing: "mount.replica exited with -9 without an answer"), "\(result)")
    }

    @Test func mountPassesOptionsOnAndTakesTheStatus() async throws {
        _ = try FakeDomain("new", in: folder)
        let result = try await replica(
            "mount", "new", "/", "-o", "ro,allow_other", mount: "echo mount.replica: no luck >&2; exit 32")
        #expect(result.isOneClearLine(code: 32, containing: "mount.replica: no luck"), "\(result)")
        #expect(try mountArguments() == ["new", "/", "-o", "ro,allow_other"])
    }

    @Test func aDaemonThatEndsAtOnceIsReported() async throws {
        _ = try FakeDomain(in: folder)
        let result = try await replica("mount", "photos", "/", mount: "exit 0")
        #expect(result.code == ExitReason.notRunning.rawValue, "\(result)")
        #expect(result.errors == "replica: the daemon of photos exited right after mounting\n")
    }

    @Test func aStoppedDomainIsRemoved() async throws {
        _ = try FakeDomain("new", in: folder)
        let line = #"echo '{"id":0,"answer":{"removed":{"files":3,"preserved":"/kept"}}}'"#
        let result = try await replica("remove", "new", "--keep", "downloaded", mount: line)
        #expect(result.output == "new is removed; 3 files preserved in /kept\n" && result.code == 0, "\(result)")
        #expect(try mountArguments() == ["--remove", "new", "downloaded"])
    }

    @Test func aDaemonIsStartedWhereNoneRuns() async throws {
        _ = try FakeDomain("new", in: folder)
        let line = #"echo '{"id":0,"failure":{"code":"busy","message":"another daemon starts"}}'; exit 12"#
        let result = try await replica("wait", "new", mount: line)
        #expect(result.isOneClearLine(code: 12, containing: "another daemon starts"), "\(result)")
        #expect(try mountArguments() == ["--serve", "new"])
    }
}

/// The command line of `mount.replica` itself.
@Suite(.serialized) struct MountCommandLineTests {
    @Test(
        arguments: [
            (["a"], 1, "usage: mount.replica SPEC DIR"), (["a", "/b", "-o", "frob"], 1, "unknown option 'frob'"),
            (["a", "/", "-o", "remount"], 32, "/: no domain is mounted there"),
            (["file://u:topsecret@/x", "/b"], 1, "the store URL contains a secret"),
            (["--probe"], 1, "usage: mount.replica --probe URL table|json"),
        ] as [([String], Int32, String)])
    func invalidLinesExitWithTheCodesOfMount(arguments: [String], code: Int32, text: String) async throws {
        let result = try await run(Programs.mount, arguments)
        #expect(result.isOneClearLine(code: code, containing: "mount.replica: \(text)"), "\(result)")
        #expect(!result.errors.contains("topsecret"))
    }

    @Test func helpAndVersionAndFakeDoNothing() async throws {
        #expect(try await run(Programs.mount, "--help").output.contains("SPEC is a domain's name or a store URL"))
        #expect(try await run(Programs.mount, "-V").output.hasPrefix("mount.replica \(programVersion)\n"))
        let fake = try await run(Programs.mount, "nothing", "/nonexistent", "-f", "-o", "ro")
        #expect(fake.code == 0 && fake.output == "" && fake.errors == "")
    }

    @Test func anErrorIsOneLine() async throws {
        let domain = try FakeDomain()
        let file = try domain.folder.write("x", to: "file")
        for (arguments, text, code) in [
            (["nope", "/mnt"], "no domain named nope; store=URL creates one", 32),
            (["photos", "/nonexistent"], "/nonexistent: No such file or directory", 32),
            (["photos", file.string], "\(file): not a directory", 32),
            (["photos", "/", "-o", "credentials=\(file)"], "can be read by others", 1),
        ] as [([String], String, Int32)] {
            let result = try await run(Programs.mount, arguments, environment: domain.environment)
            #expect(result.isOneClearLine(code: code, containing: text), "\(result)")
        }
    }

    @Test(
        arguments: [
            (["--serve", "nope"], ExitReason.noSuchDomain), (["--remove", "nope", "none"], .noSuchDomain),
            (["--add", "photos", "file:///x"], .domainExists),
            (["--import", "photos", "/x", "file:///x"], .domainExists), (["--serve"], .usage),
            (["--add", "new", "file:///x", "-o", "frob"], .usage),
        ] as [([String], ExitReason)])
    func commandFormsPrintOneReply(arguments: [String], code: ExitReason) async throws {
        let domain = try FakeDomain()
        let result = try await run(Programs.mount, arguments, environment: domain.environment)
        let reply = try ControlCodec.decode(ReplyLine.self, from: result.output.utf8)
        #expect(reply.failure?.code == code && result.code == code.rawValue && result.errors == "", "\(result)")
    }

    @Test func aRunningDaemonIsAskedToMount() async throws {
        let domain = try FakeDomain { _, _ in .done }
        let place = try domain.folder.makeFolder("mnt")
        let result = try await run(
            Programs.mount, "photos", "\(place)/../mnt/", "-o", "ro,nofail,cache-max=1G,foreground",
            environment: domain.environment)
        #expect(result.code == 0 && result.output == "" && result.errors == "", "\(result)")
        let expected = ControlRequest.mount(mountpoint: ControlFilePath(place), options: ["ro", "cache-max=1G"])
        #expect(domain.service.requests == [expected])
        let serve = try await run(Programs.mount, "--serve", "photos", environment: domain.environment)
        #expect(serve.code == 0 && serve.output == #"{"answer":{},"id":0}"# + "\n", "\(serve)")
        try await domain.stop()
    }

    @Test func aRefusalOfTheDaemonIsAFailureOfMount() async throws {
        let domain = try FakeDomain { _, _ in throw ControlFailure(.busy, "mounted on /elsewhere already") }
        let result = try await run(Programs.mount, "photos", "/", environment: domain.environment)
        #expect(result.isOneClearLine(code: 32, containing: "mounted on /elsewhere already"), "\(result)")
        try await domain.stop()
    }
}
