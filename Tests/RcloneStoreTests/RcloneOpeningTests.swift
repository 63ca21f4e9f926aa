import Foundation
import Glibc
import HTTPStorage
import PathStore
import ReplicaTestSupport
import Testing

@testable import RcloneStore

/// Why a remote can't be opened, each in one line.
@Suite struct RcloneOpeningTests {
    private func failure(
        _ url: String, _ program: RcloneProgram = RcloneRemote.program, password: String? = nil
    ) async throws -> ServerFailure? {
        let state = try RcloneRemote.state()
        do throws(ServerFailure) {
            let address: RcloneAddress
            do throws(RcloneAddress.Invalid) { address = try RcloneAddress(url) } catch {
                return .refused(error.description)
            }
            let server = try RcloneRunner(program, state: state, password: password)
            try await RcloneStorage.open(address, server, state: state).close()
            return nil
        } catch {
            return error
        }
    }

    @Test func aMissingRemoteIsReported() async throws {
        #expect(
            try await failure("rclone:nosuch:x")
                == .refused(
                    "rclone has no remote 'nosuch': 'rclone listremotes' lists the remotes, 'rclone config' creates one"
                ))
    }

    @Test func aMissingFolderIsReported() async throws {
        #expect(
            try await failure("rclone:disk:no/such")
                == .refused("there is no folder rclone:disk:no/such: 'rclone mkdir' creates it"))
    }

    @Test func aFileIsNotAFolder() async throws {
        let folder = try await RcloneRemote.disk.folder()
        try await folder.write([1], to: "file")
        #expect(try await failure("rclone:\(folder.root)/file") == .refused("rclone:\(folder.root)/file is a file"))
    }

    @Test func aMissingConfigurationIsReported() async throws {
        var environment = RcloneRemote.environment
        environment["RCLONE_CONFIG"] = RcloneRemote.base + "/none.conf"
        let program = RcloneProgram(path: RcloneRemote.path, environment: environment)
        guard case .refused(let text) = try await failure("rclone:disk:", program) else {
            Issue.record("it was another failure")
            return
        }
        #expect(text.hasPrefix("rclone has no remote 'disk'"))
    }

    @Test func aMissingRcloneIsReported() throws {
        let error = #expect(throws: ServerFailure.self) { try RcloneProgram.find(["PATH": "/nowhere"]) }
        #expect(error?.message.hasPrefix("rclone is not installed") == true)
        #expect(try RcloneProgram.find(["PATH": "/nowhere:/usr/bin"]).path == "/usr/bin/rclone")
    }

    /// Debian's version, 1.60.1, does not support sockets.
    @Test func anOldRcloneIsRecognizedByItsVersion() async throws {
        let program = RcloneProgram(path: "/usr/bin/rclone", environment: RcloneRemote.environment)
        guard case .refused(let text) = try await failure("rclone:disk:", program) else {
            Issue.record("it was another failure")
            return
        }
        #expect(text.hasPrefix("rclone is too old: it is v1.") && text.contains("version 1.75 or newer is needed"))
    }

    @Test(arguments: [
        ("v1.75.0", true), ("v1.75.2", true), ("v2.0.0", true), ("v1.74.9", false), ("v1.60.1-DEV", false),
        ("v0.9", false), ("git", true),
    ])
    func versionsAreCompared(_ version: String, _ isGood: Bool) {
        #expect((RcloneProgram.refusal(of: version) == nil) == isGood)
    }

    @Test func aMissingProgramIsUnreachable() async throws {
        let program = RcloneProgram(path: "/bin/false", environment: RcloneRemote.environment)
        guard case .unreachable(let text) = try await failure("rclone:disk:", program) else {
            Issue.record("it was another failure")
            return
        }
        #expect(text.hasPrefix("rclone can't be started"))
    }

    /// An encrypted configuration needs its password, which is in neither a command line nor an environment.
    @Test func anEncryptedConfigurationIsReported() async throws {
        let settings = RcloneRemote.base + "/encrypted-\(UInt32.random(in: 0 ... .max)).conf"
        _ = RcloneRemote.program
        try FileManager.default.copyItem(atPath: RcloneRemote.settings, toPath: settings)
        let tool = Process()
        tool.executableURL = URL(filePath: RcloneRemote.path)
        tool.arguments = ["config", "encryption", "set", "--config", settings, "--password-command", "echo let-me-in"]
        tool.standardOutput = FileHandle.nullDevice
        tool.standardError = FileHandle.nullDevice
        try tool.run()
        tool.waitUntilExit()
        var environment = RcloneRemote.environment
        environment["RCLONE_CONFIG"] = settings
        let program = RcloneProgram(path: RcloneRemote.path, environment: environment)
        for password in [nil, "wrong"] {
            guard case .notAuthenticated(let text) = try await failure("rclone:disk:", program, password: password)
            else {
                Issue.record("it was another failure")
                return
            }
            #expect(text.contains("encrypted") && text.contains("password="))
        }
        let state = try RcloneRemote.state()
        let server = try RcloneRunner(program, state: state, password: "let-me-in")
        let storage = try await RcloneStorage.open(try RcloneAddress("rclone:disk:"), server, state: state)
        // Another rclone process, which sets times, would need it too.
        #expect(!storage.properties.keepsModificationDates)
        for file in ["cmdline", "environ"] {
            let text = try Data(contentsOf: URL(filePath: "/proc/\(server.process)/\(file)"))
            #expect(text.firstRange(of: Data("let-me-in".utf8)) == nil)
        }
        await storage.close()
    }
}
