import ChildProcess
import FuseMount
import Glibc
import Logging
import Synchronization
import SystemPackage

/// Lines for the user, and of the log. Each is one line without control characters, whatever names and texts of a store, of a
/// server or of other users it contains: no line can be forged, and no terminal takes a part of it for a command.
enum StandardError {
    private static let log = AtomicLazyReference<DaemonLog>()
    /// The descriptor of a log that also gets each line; -1 for none.
    private static var other: Int32 { log.load()?.descriptors.first { $0 > 2 } ?? -1 }

    /// Standard output and error are a daemon's log from now on.
    static func become(_ log: DaemonLog) { _ = Self.log.storeIfNil(log) }

    /// From now on each line goes to this log too: of a daemon in the foreground, whose standard error is a terminal's or a
    /// service manager's. Without effect if lines go to one already, or if it can't be opened.
    static func copy(to path: FilePath) {
        guard log.load() == nil else { return }
        let descriptor = DaemonLog.open(path)
        guard descriptor >= 0 else { return }
        let own = DaemonLog(path, [descriptor])
        if log.storeIfNil(own) === own { CrashHandling.report(to: descriptor) } else { close(descriptor) }
    }

    /// Writes a line only to the log of ``copy(to:)``, not to standard error: the user sees the same on standard output.
    static func note(_ message: String) { write("mount.replica: \(message)", to: [other]) }

    /// Writes `mount.replica: MESSAGE`.
    static func say(_ message: String) { write("mount.replica: \(message)") }

    /// A log handler that writes here, each event as one line.
    static func logHandler(label: String) -> StreamLogHandler {
        StreamLogHandler(label: label, stream: LogStream(), metadataProvider: nil)
    }

    /// Writes one line in one call, so that those of several threads are not mixed.
    private static func write(_ text: some StringProtocol) { write(text, to: [2, other]) }

    private static func write(_ text: some StringProtocol, to descriptors: [Int32]) {
        let line = Array(SanitizedText.of(Array(text.utf8)).utf8) + [UInt8(ascii: "\n")]
        log.load()?.follow()
        for descriptor in descriptors where descriptor >= 0 {
            _ = line.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        }
    }

    /// Gets a whole event at each call, with the end of its line.
    private struct LogStream: TextOutputStream {
        func write(_ event: String) {
            StandardError.write(event.hasSuffix("\n") ? event.dropLast() : event[...])
        }
    }
}
