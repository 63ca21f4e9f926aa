import ChildProcess
import Foundation
import Glibc
import ReplicaControl
import Testing

/// The umask of what a daemon starts, which has none itself.
@Suite struct ProgramUmaskTests {
    @Test func programsGetTheUmaskOfTheDaemonsCaller() async {
        await #expect(processExitsWith: .exitCode(0)) {
            umask(0o027)
            ProgramUmask.clear()
            // As the daemon's, it starts programs on a thread while others create files.
            let done = DispatchSemaphore(value: 0)
            nonisolated(unsafe) var seen: [String?] = []
            Thread.detachNewThread {
                seen.append(
                    TimeLimitedProgram.run("/bin/sh", ["-c", "umask"].map { Array($0.utf8) }, seconds: 30)?.output)
                seen.append(spawned("umask"))
                seen.append("\(ownUmask())")
                done.signal()
            }
            done.wait()
            exit(seen == ["0027\n", "0027\n", "0"] && ownUmask() == 0 ? 0 : 1)
        }
    }

    @Test func withoutADaemonProgramsGetTheUmaskOfThisProcess() async {
        await #expect(processExitsWith: .exitCode(0)) {
            umask(0o027)
            exit(spawned("umask") == "0027\n" && ownUmask() == 0o027 ? 0 : 1)
        }
    }
}

private func ownUmask() -> mode_t {
    let own = umask(0)
    umask(own)
    return own
}

/// What a shell that is started as a store says.
private func spawned(_ script: String) -> String? {
    let call = ProgramCall(path: "/bin/sh", words: ["sh", "-c", script], environment: [])
    guard let child = try? SpawnedProcess(call) else { return nil }
    var bytes: [UInt8] = []
    while true {
        var ready = pollfd(fd: child.conversation.raw, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 30_000) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = read(child.conversation.raw, &buffer, buffer.count)
        if count <= 0 { break }
        bytes += buffer.prefix(count)
    }
    return child.reap() == 0 ? String(decoding: bytes, as: UTF8.self) : nil
}
