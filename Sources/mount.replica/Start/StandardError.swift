import ChildProcess
import Glibc
import Logging

/// Lines for a person, and of the log. Each is one line without control characters, whatever names and texts of a store, of a
/// server or of other users it contains: no line can be forged, and no terminal takes a part of it for a command.
enum StandardError {
    /// Writes `mount.replica: MESSAGE`.
    static func say(_ message: String) { write("mount.replica: \(message)") }

    /// A log handler that writes here, each event as one line.
    static func logHandler(label: String) -> StreamLogHandler {
        StreamLogHandler(label: label, stream: LogStream(), metadataProvider: nil)
    }

    /// Writes one line in one call, so that those of several threads are not mixed.
    private static func write(_ text: some StringProtocol) {
        let line = Array(PlainText.of(Array(text.utf8)).utf8) + [UInt8(ascii: "\n")]
        _ = line.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
    }

    /// Gets a whole event at each call, with the end of its line.
    private struct LogStream: TextOutputStream {
        func write(_ event: String) {
            StandardError.write(event.hasSuffix("\n") ? event.dropLast() : event[...])
        }
    }
}
