import ReplicaControl

/// Formats progress: on a terminal one line that is rewritten, elsewhere a line from time to time,
/// and none for short operations. Uses no escape sequences, so it works on any terminal.
struct ProgressDisplay {
    let isTerminal: Bool
    /// The number of columns used on the terminal's line.
    private var shown = 0
    /// When the next line is due without a terminal, and the interval after it.
    private var next: (time: Double, pause: Double)?

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    /// Seconds until the first line without a terminal, and the maximum interval.
    private static let firstPauseSeconds = 10.0
    private static let longestPauseSeconds = 300.0

    /// - Parameters:
    ///   - columns: The terminal's width.
    ///   - now: Seconds of a monotonic clock.
    /// - Returns: The text to write.
    mutating func show(_ progress: TransferProgress, columns: Int, now: Double) -> String {
        guard isTerminal else { return line(progress, now) }
        // In the last column many terminals wrap to the next line.
        let text = Self.text(progress, most: max(0, columns - 1))
        let rest = min(shown, columns - 1) - text.count
        shown = text.count
        return "\r" + text + String(repeating: " ", count: max(0, rest))
    }

    private mutating func line(_ progress: TransferProgress, _ now: Double) -> String {
        guard let next else {
            self.next = (now + Self.firstPauseSeconds, Self.firstPauseSeconds * 2)
            return ""
        }
        guard now >= next.time else { return "" }
        self.next = (now + next.pause, min(next.pause * 2, Self.longestPauseSeconds))
        return Self.text(progress, most: .max) + "\n"
    }

    /// Ends the display.
    /// - Parameter keepsLine: Whether the line on the terminal stays, and output continues below it.
    mutating func end(keepsLine: Bool) -> String {
        next = nil
        guard shown > 0 else { return "" }
        defer { shown = 0 }
        return keepsLine ? "\n" : "\r" + String(repeating: " ", count: shown) + "\r"
    }

    /// As much of it as fits, preferably whole words.
    private static func text(_ progress: TransferProgress, most: Int) -> String {
        var parts = Format.progressParts(progress)[...]
        while parts.count > 1, parts.joined(separator: ", ").count > most { parts.removeLast() }
        return String(parts.joined(separator: ", ").prefix(most))
    }
}
