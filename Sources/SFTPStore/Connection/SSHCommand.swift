import ChildProcess
import Foundation
import Glibc

/// How the user's `ssh` is run: with the user's configuration, agent, known hosts, jump hosts and shared connections.
package struct SSHCommand: Sendable {
    /// The program; nil for the `ssh` that is found.
    package var program: String?
    /// Before all other arguments, as `-F FILE`.
    package var arguments: [String] = []

    /// The installed `ssh`.
    package init() {}

    /// No questions, because there is no terminal; no forwarding; a lost connection is detected. If the user's
    /// configuration has a command for the host, the subsystem replaces it.
    private static let options = [
        "BatchMode=yes", "ForwardX11=no", "ForwardAgent=no", "ClearAllForwardings=yes", "PermitLocalCommand=no",
        "RemoteCommand=none", "RequestTTY=no", "ServerAliveInterval=15", "ServerAliveCountMax=3", "LogLevel=ERROR",
    ]

    /// - Throws: ``SFTPFailure/refused(_:)`` if there is no ssh.
    func call(_ address: SFTPAddress) throws(SFTPFailure) -> ProgramCall {
        guard let path = program ?? Self.found() else {
            throw .refused("there is no ssh program here: install openssh-client")
        }
        var words = ["ssh"] + arguments
        for option in Self.options { words += ["-o", option] }
        if let port = address.port { words += ["-p", "\(port)"] }
        if let user = address.user { words += ["-l", user] }
        words += ["-s", "--", address.host, "sftp"]
        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        return ProgramCall(path: path, words: words, environment: environment)
    }

    /// For root, not from the environment, which may be another user's.
    private static func found() -> String? {
        let own = geteuid() == 0 ? nil : ProcessInfo.processInfo.environment["PATH"]
        let path = own ?? SystemFolders.path
        return path.split(separator: ":").map { "\($0)/ssh" }.first { $0.hasPrefix("/") && access($0, X_OK) == 0 }
    }
}
