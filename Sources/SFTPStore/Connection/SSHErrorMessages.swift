import ChildProcess

/// Interprets ssh(1)'s last messages on standard error when it exits.
struct SSHErrorMessages {
    /// Its last bytes.
    private var bytes: [UInt8] = []
    private static let most = 4_096

    mutating func take(_ fresh: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: fresh.suffix(Self.most))
        if bytes.count > Self.most { bytes.removeFirst(bytes.count - Self.most) }
    }

    private var lines: [String] {
        bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            .map { SanitizedText.of(Array($0.prefix(300))) }.filter { !$0.allSatisfy { $0 == " " } }
    }

    /// Why it ended.
    /// - Parameter status: As of waitpid(2).
    func failure(_ address: SFTPAddress, status: Int32) -> SFTPFailure {
        let lines = lines
        let all = lines.joined(separator: "\n")
        func line(_ part: String) -> String? { lines.last { $0.contains(part) } }
        if all.contains("REMOTE HOST IDENTIFICATION HAS CHANGED") {
            return .untrusted(
                "the host key of \(address) has changed: find out why, then remove the old one with `ssh-keygen -R`"
            )
        }
        if all.contains("Host key verification failed") || all.contains("host key is known for") {
            return .untrusted(
                "the host key of \(address) is not known here: run `ssh \(Self.words(address))` once and confirm it")
        }
        if let line = line("Permission denied (") {
            return .notAuthenticated(
                "\(address) requires a password, which can't be asked for here: \(Self.ending(line)); install your "
                    + "key there (`ssh-copy-id`), load it (`ssh-add`), or name it in ~/.ssh/config")
        }
        if let line = line("Too many authentication failures") {
            return .notAuthenticated("\(address): \(line); name one key in ~/.ssh/config (IdentitiesOnly)")
        }
        if line("subsystem request failed") != nil {
            return .refused("\(address) has no SFTP: its sshd_config lacks the subsystem")
        }
        if let line = line("Bad owner or permissions") ?? line("Bad configuration option")
            ?? line("terminating, ") ?? line("Can't open user config")
        {
            return .refused("ssh does not start: \(line)")
        }
        if let line = lines.last { return .unreachable("\(address): \(Self.ending(line))") }
        let signal = status & 0x7F
        let how = signal == 0 ? "with status \((status >> 8) & 0xFF)" : "by signal \(signal)"
        return .unreachable("\(address): the connection ended, ssh \(how)")
    }

    private static func words(_ address: SFTPAddress) -> String {
        (address.port.map { "-p \($0) " } ?? "") + address.login
    }

    /// Removes a prefix of ssh's that our message already contains.
    private static func ending(_ line: String) -> String {
        var text = Substring(line)
        if text.hasPrefix("ssh: ") { text = text.dropFirst(5) }
        return String(text.trimmed)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
