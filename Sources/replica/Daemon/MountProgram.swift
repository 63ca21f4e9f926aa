import Glibc
import ReplicaControl

/// Runs `mount.replica`, which creates and serves domains.
enum MountProgram {
    /// Runs it in one of its command forms and returns its answer.
    static func command(_ arguments: [[UInt8]]) throws -> ControlAnswer {
        let (line, code) = try run(arguments, readsOutput: true)
        let reply: ReplyLine
        do { reply = try ControlCodec.decode(ReplyLine.self, from: line) } catch {
            throw ControlFailure(.failed, "mount.replica exited with \(code) without an answer")
        }
        if let failure = reply.failure { throw failure }
        return reply.answer ?? .done
    }

    /// Runs it like mount(8); it prints its own line on standard error. Throws the corresponding exit status.
    static func mount(_ arguments: [[UInt8]]) throws {
        let (_, code) = try run(arguments, readsOutput: false)
        switch MountExitStatus(rawValue: code) {
        case .success: return
        case .usage: throw ExitReason.usage
        case .failure: throw ExitReason.mountFailed
        case .system, nil: throw ExitReason.failed
        }
    }

    /// Calls it in a form that prints for the user. Throws its exit status.
    static func passOn(_ arguments: [[UInt8]]) throws {
        let (_, code) = try run(arguments, readsOutput: false)
        if code != 0 { throw ExitReason(rawValue: code) ?? .failed }
    }

    /// Prints this program's version and those of `mount.replica`, which may be of another release. If it is missing,
    /// that is printed and is not an error.
    static func printVersions() throws {
        Output.line("replica \(programVersion)")
        do throws(ControlFailure) { _ = try find() } catch { return Output.line(error.message) }
        try passOn([Array("--version".utf8)])
    }

    /// Next to this program, then where `scripts/install` and mount(8) expect it.
    static func find() throws(ControlFailure) -> String {
        var folders = ["/sbin", "/usr/local/sbin"]
        if let own = realpath(SystemPath.ownProgram, nil) {
            let bin = folder(of: String(cString: own))
            free(own)
            folders = [bin, folder(of: bin) + "/sbin"] + folders
        }
        for folder in folders where access("\(folder)/mount.replica", X_OK) == 0 { return "\(folder)/mount.replica" }
        throw ControlFailure(.notRunning, "mount.replica was found neither next to this program nor in /sbin")
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    private static func run(
        _ arguments: [[UInt8]], readsOutput: Bool
    ) throws(ControlFailure) -> (output: [UInt8], code: Int32) {
        try run(find(), arguments, readsOutput: readsOutput)
    }

    /// Runs a program and waits for its end.
    /// - Returns: The first line of its output, if that is read, and its exit status; minus the signal.
    static func run(
        _ program: String, _ arguments: [[UInt8]], readsOutput: Bool
    ) throws(ControlFailure) -> (output: [UInt8], code: Int32) {
        var ends: [Int32] = [-1, -1]
        if readsOutput, pipe(&ends) != 0 { throw ControlFailure(.failed, "no pipe") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if readsOutput {
            posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
            posix_spawn_file_actions_addclose(&actions, ends[0])
            posix_spawn_file_actions_addclose(&actions, ends[1])
        }
        var words: [UnsafeMutablePointer<CChar>?] = ([Array(program.utf8)] + arguments).map { word in
            strdup(word.map { CChar(bitPattern: $0) } + [0])
        }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let failure = posix_spawn(&child, program, &actions, nil, words, environ)
        if readsOutput { close(ends[1]) }
        guard failure == 0 else {
            throw ControlFailure(.notRunning, "\(program): \(String(cString: strerror(failure)))")
        }
        let output = readsOutput ? readLine(from: ends[0]) : []
        if readsOutput { close(ends[0]) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return (output, status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F))
    }

    /// Only the first line: a daemon may keep the pipe open.
    private static func readLine(from pipe: Int32) -> [UInt8] {
        var line = ControlLineBuffer()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            do { if let found = try line.next() { return found } } catch { return [] }
            let count = read(pipe, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return [] }
            line.append(buffer.prefix(count))
        }
    }
}
