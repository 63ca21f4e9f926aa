import ChildProcess
import Foundation
import Glibc

/// How the person's own `ssh` is run: with their configuration, agent, known hosts, jump hosts and shared connections.
package struct SSHCommand: Sendable {
    /// The program; nil for `ssh` where it is found.
    package var program: String?
    /// Before all other arguments, as `-F FILE`.
    package var arguments: [String] = []

    /// `ssh` as it is installed.
    package init() {}

    /// No questions, because nobody is there to answer them; no forwarding; a lost connection is detected. A command
    /// that the user's configuration has for the host is replaced by the subsystem.
    private static let options = [
        "BatchMode=yes", "ForwardX11=no", "ForwardAgent=no", "ClearAllForwardings=yes", "PermitLocalCommand=no",
        "RemoteCommand=none", "RequestTTY=no", "ServerAliveInterval=15", "ServerAliveCountMax=3", "LogLevel=ERROR",
    ]

    /// - Throws: ``SFTPFailure/refused(_:)`` when there is no ssh.
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
