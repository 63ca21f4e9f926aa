import Foundation
import PathStore
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import SFTPStore

/// The reasons why a server can't be used, distinguished by the real ssh's messages.
@Suite struct SFTPOpeningTests {
    private func failure(
        _ server: SSHServer, _ address: SFTPAddress? = nil, _ change: (inout SSHCommand) -> Void = { _ in }
    ) async throws -> SFTPFailure? {
        var command = server.command
        change(&command)
        do throws(SFTPFailure) {
            let storage = try await SFTPStorage.open(try Self.address(address, server), command: command)
            await storage.close()
            return nil
        } catch {
            return error
        }
    }

    private static func address(_ address: SFTPAddress?, _ server: SSHServer) throws(SFTPFailure) -> SFTPAddress {
        do { return try address ?? server.address } catch { throw .refused("\(error)") }
    }

    private func expect(
        _ failure: SFTPFailure?, _ kind: (String) -> SFTPFailure, _ text: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let message = failure?.message ?? "nothing"
        #expect(
            failure == kind(message) && message.contains(text), "\(String(describing: failure))",
            sourceLocation: location)
        #expect(!message.contains("\n"), sourceLocation: location)
    }

    @Test func anUnreachableServerIsReported() async throws {
        try await SSHServer.run { server in
            expect(
                try await failure(server, try SFTPAddress("no-such-host.invalid/x")), SFTPFailure.unreachable,
                "Could not resolve hostname")
            server.stop()
            expect(try await failure(server), SFTPFailure.unreachable, "Connection refused")
        }
    }

    @Test func anUntrustedHostKeyIsReported() async throws {
        try await SSHServer.run { server in
            let key = try String(contentsOfFile: server.folder + "/id.pub", encoding: .utf8)
            try server.write("", to: "known_hosts")
            expect(try await failure(server), SFTPFailure.untrusted, "is not known here: run `ssh server` once")
            // Another key under its name.
            try server.write("[127.0.0.1]:\(server.port) \(key)", to: "known_hosts")
            expect(try await failure(server), SFTPFailure.untrusted, "has changed: find out why")
        }
    }

    @Test func aRejectedLoginIsReported() async throws {
        try await SSHServer.run { server in
            try server.write("", to: "authorized")
            expect(try await failure(server), SFTPFailure.notAuthenticated, "Permission denied (publickey)")
            expect(try await failure(server), SFTPFailure.notAuthenticated, "ssh-copy-id")
        }
    }

    @Test func aFileIsNotADirectory() async throws {
        try await SSHServer.run { server in
            expect(
                try await failure(server, try server.address(of: server.root + "/none")), SFTPFailure.missing,
                "there is no directory \(server.root)/none there")
            expect(
                try await failure(server, try server.address(of: server.folder + "/id")), SFTPFailure.refused,
                "is not a directory there")
        }
    }

    /// For a new store, and taken back if the domain can't be created.
    @Test func theDirectoryIsCreated() async throws {
        try await SSHServer.run { server in
            let path = server.root + "/new"
            let directory = NewDirectory(try server.address(of: path), command: server.command)
            #expect(try await directory.isMissing())
            try await directory.make()
            #expect(try await !directory.isMissing())
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode == S_IFDIR | 0o700)
            #expect(try await failure(server, try server.address(of: path)) == nil)
            #expect(FileManager.default.createFile(atPath: path + "/file", contents: nil))
            await #expect(throws: SFTPFailure.self) { try await directory.remove() }
            #expect(unlink(path + "/file") == 0)
            try await directory.remove()
            #expect(try await directory.isMissing())
            let deep = NewDirectory(try server.address(of: path + "/deep"), command: server.command)
            #expect(try await deep.isMissing())
            await #expect {
                try await deep.make()
            } throws: { error in
                let text = "the directory above \(path)/deep does not exist there"
                return (error as? SFTPFailure)?.message.contains(text) == true
            }
        }
    }

    @Test func aServerWithoutSFTPIsReported() async throws {
        try await SSHServer.run(.openSSH(nil)) { server in
            expect(try await failure(server), SFTPFailure.refused, "has no SFTP")
        }
    }

    @Test func aProfileThatPrintsIsReported() async throws {
        let command = "/bin/sh -c 'echo Hello there; exec /usr/lib/openssh/sftp-server'"
        try await SSHServer.run(.openSSH("\"\(command)\"")) { server in
            expect(
                try await failure(server), SFTPFailure.unreachable,
                "instead of an SFTP server, this answered: 'Hello there")
        }
    }

    @Test func aFailureOfSSHIsReported() async throws {
        try await SSHServer.run { server in
            expect(
                try await failure(server) { $0.program = "/nowhere/ssh" }, SFTPFailure.refused,
                "/nowhere/ssh can't be started: No such file or directory")
            try server.configure("NoSuchOption yes")
            expect(try await failure(server), SFTPFailure.refused, "ssh does not start")
        }
    }

    /// Like on macOS: two local files would be one there.
    @Test func caseInsensitiveServersAreRefused() async throws {
        try await SSHServer.run { server in
            try server.write("", to: "mark")
            let script = FilePath(#filePath).removingLastComponent().appending("cutting-ssh").string
            let found = try await failure(server) { command in
                (command.program, command.arguments) = (script, ["folds", "1000000", server.folder + "/mark"])
            }
            expect(found, SFTPFailure.refused, "names are case-insensitive there")
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.root).isEmpty)
        }
    }

    /// The user's configuration for the host applies, except for settings that would break the protocol.
    @Test func theUsersConfigurationApplies() async throws {
        try await SSHServer.run { server in
            try server.configure(
                """
                Host other
                    ProxyJump server
                    HostKeyAlias server
                Host *
                    RemoteCommand echo no sftp
                    RequestTTY force
                    LocalForward \(server.port) localhost:1
                    ExitOnForwardFailure yes
                    ControlMaster auto
                    ControlPath \(server.folder)/control
                    ControlPersist 2
                """)
            #expect(try await failure(server) == nil)
            #expect(try await failure(server) == nil)
            // The login's home directory.
            let home = try await SFTPStorage.open(try SFTPAddress("server/~"), command: server.command)
            #expect(try await home.entry(at: .root)?.kind == .folder)
            await home.close()
            // Its shared connection ends by itself.
            let control = server.folder + "/control"
            #expect(try await eventually { !FileManager.default.fileExists(atPath: control) })
        }
    }
}
