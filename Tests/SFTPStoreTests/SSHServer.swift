import ChildProcess
import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Threads

@testable import SFTPStore

/// A real sshd with its own host key, port and configuration, and a configuration for ssh in which it is `server`. If
/// sshd is missing, the test fails.
final class SSHServer: Sendable {
    /// The program that serves SFTP.
    enum Program: Sendable {
        /// OpenSSH, with a subsystem; nil for none.
        case openSSH(String?)
        /// `rclone serve sftp`, which lacks many features.
        case rclone
    }

    let folder: String
    private let program: Program
    let port: UInt16
    private let running = Locked<SpawnedProcess?>(nil)

    /// The directory that holds stores.
    var root: String { folder + "/data" }
    var command: SSHCommand {
        var command = SSHCommand()
        command.arguments = ["-F", folder + "/config"]
        return command
    }
    var address: SFTPAddress { get throws { try address(of: root) } }

    /// Makes the server and starts it.
    init(_ program: Program) throws {
        self.program = program
        folder = TemporaryFolder.unusedPath().string
        try FileManager.default.createDirectory(atPath: folder + "/data", withIntermediateDirectories: true)
        port = try StreamSocket.freePort()
        for key in ["host", "id"] {
            try Self.run(["/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "\(folder)/\(key)"])
        }
        try FileManager.default.copyItem(atPath: folder + "/id.pub", toPath: folder + "/authorized")
        if case .openSSH(let subsystem) = program { try configureServer(subsystem) }
        let key = try String(contentsOfFile: folder + "/host.pub", encoding: .utf8)
        try write("[127.0.0.1]:\(port) \(key)", to: "known_hosts")
        try configure()
        try start()
    }

    private func configureServer(_ subsystem: String?) throws {
        try write(
            """
            ListenAddress 127.0.0.1:\(port)
            HostKey \(folder)/host
            AuthorizedKeysFile \(folder)/authorized
            StrictModes no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            UsePAM no
            PidFile none
            \(subsystem.map { "Subsystem sftp \($0)" } ?? "")
            MaxStartups 100
            LogLevel ERROR
            """, to: "sshd_config")
    }

    /// Writes the configuration of ssh.
    func configure(_ more: String = "") throws {
        try write(
            """
            \(more)
            Host server
                HostName 127.0.0.1
                Port \(port)
                IdentityFile \(folder)/id
                IdentitiesOnly yes
                UserKnownHostsFile \(folder)/known_hosts
                GlobalKnownHostsFile /dev/null
            """, to: "config")
    }

    func write(_ text: String, to name: String) throws {
        try (text + "\n").write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        chmod("\(folder)/\(name)", 0o600)
    }

    /// The address of a directory of the server's disk.
    func address(of path: String) throws -> SFTPAddress {
        guard case .rclone = program else { return try SFTPAddress("server\(path)") }
        return try SFTPAddress("server/\(path.dropFirst(root.count))")
    }

    func start() throws {
        if geteuid() == 0 { mkdir("/run/sshd", 0o755) }
        let words =
            switch program {
            case .openSSH: ["/usr/sbin/sshd", "-D", "-e", "-f", "\(folder)/sshd_config"]
            case .rclone:
                [
                    "/usr/bin/rclone", "serve", "sftp", "--addr", "127.0.0.1:\(port)", "--key", folder + "/host",
                    "--authorized-keys", folder + "/authorized", "--vfs-cache-mode", "writes", "--vfs-write-back", "0s",
                    "--dir-cache-time", "0s", "--cache-dir", folder + "/cache", "--config", "/dev/null", root,
                ]
            }
        let call = ProgramCall(
            path: words[0], words: words, environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=\(folder)"])
        let sshd = try SpawnedProcess(call)
        running.withLock { $0 = sshd }
        guard blockUntil({ isListening }) else { throw POSIXError(.ECONNREFUSED) }
    }

    /// Kills it with all its sessions.
    func stop() {
        guard
            let sshd = running.withLock({ sshd in
                defer { sshd = nil }
                return sshd
            })
        else { return }
        killSessions(of: sshd.identifier)
        kill(sshd.identifier, SIGKILL)
        _ = sshd.reap()
    }

    /// Kills the sessions only.
    func cut() {
        if let sshd = running.withLock({ $0 }) { killSessions(of: sshd.identifier) }
    }

    /// Stops the sessions, or lets them continue.
    func signalSessions(_ signal: Int32) {
        if let sshd = running.withLock({ $0 }) { for child in Self.below(sshd.identifier) { kill(child, signal) } }
    }

    private func killSessions(of sshd: pid_t) { for child in Self.below(sshd) { kill(child, SIGKILL) } }

    private static func below(_ process: pid_t) -> [pid_t] {
        let path = "/proc/\(process)/task/\(process)/children"
        // A process that has ended has none.
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let children = text.split(separator: " ").compactMap { pid_t($0) }
        return children.flatMap { below($0) + [$0] }
    }

    private var isListening: Bool { StreamSocket.connected(to: port) != nil }

    private static func run(_ words: [String]) throws {
        let call = ProgramCall(path: words[0], words: words, environment: ["PATH=/usr/bin:/bin"])
        guard try SpawnedProcess(call).reap() == 0 else { throw POSIXError(.EIO) }
    }

    /// Ends it and removes all its files.
    func remove() throws {
        stop()
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Runs a test with a private server.
    static func run(
        _ program: Program = .openSSH("internal-sftp"), _ body: (SSHServer) async throws -> Void
    ) async throws {
        let server = try SSHServer(program)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(server)) } catch { outcome = .failure(error) }
        try server.remove()
        try outcome.get()
    }
}
