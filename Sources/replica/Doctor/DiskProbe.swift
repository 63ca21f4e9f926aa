import Glibc
import ReplicaControl
import SystemPackage

/// What only calls on the filesystem itself can tell. Its daemon or its server may never answer, and a process that waits
/// for an answer can't always be killed, so another process of this program makes them.
enum DiskProbe {
    /// The first argument of that process; its second is the path.
    static let word = "--probe-place"

    /// - Returns: Nil if there is no answer in time.
    static func ask(_ path: [UInt8]) -> (hasAttributes: Bool, isWritable: Bool, isReadOnly: Bool)? {
        let words = [Array(word.utf8), path]
        guard let result = TimeLimitedProgram.run(SystemPath.ownProgram, words, seconds: DaemonProbe.helloSeconds)
        else {
            return nil
        }
        let (lacks, isReadOnly) = (result.output, result.output.contains("read-only"))
        return (!lacks.contains("no attributes"), !lacks.contains("not writable") && !isReadOnly, isReadOnly)
    }

    /// Prints what the place lacks.
    static func run() {
        guard CommandLine.argc > 2, let word = CommandLine.unsafeArgv[2] else { return }
        let path = FilePath(platformString: word)
        if !XattrSupport.isThere(at: path) { Output.line("no attributes") }
        if access(word, W_OK | X_OK) != 0 { Output.line(errno == EROFS ? "read-only" : "not writable") }
    }
}
