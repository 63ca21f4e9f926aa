package import Logging
import Threads

/// Collects a log as lines, each with its metadata after the message.
package struct LogLines: Sendable {
    private let kept = Locked<[String]>([])

    package init() {}

    /// The lines logged so far.
    package var lines: [String] { kept.withLock { $0 } }

    /// The lines as one text.
    package var text: String { lines.joined(separator: "\n") }

    /// A logger that writes here.
    package func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in LineHandler(kept: kept) }
        logger.logLevel = level
        return logger
    }

    private struct LineHandler: LogHandler {
        let kept: Locked<[String]>
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let pairs = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
            kept.withLock { $0.append((["\(event.message)"] + pairs).joined(separator: " ")) }
        }
    }
}
