package import Logging
import Threads

/// What is logged, as lines with the metadata behind the message.
package struct LogLines: Sendable {
    private let lines = Locked<[String]>([])

    package init() {}

    /// All that was logged so far.
    package var text: String { lines.withLock { $0.joined(separator: "\n") } }

    /// A logger whose lines come here.
    package func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in LineHandler(lines: lines) }
        logger.logLevel = level
        return logger
    }

    private struct LineHandler: LogHandler {
        let lines: Locked<[String]>
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let pairs = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
            lines.withLock { $0.append("\(event.message) \(pairs.joined(separator: " "))") }
        }
    }
}
