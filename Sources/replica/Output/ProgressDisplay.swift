import ReplicaControl

/// What is written to show progress: on a terminal one line that is written again and again, elsewhere a line now and then,
/// and none for what is soon done. Without escape sequences, so for any terminal.
struct ProgressDisplay {
    let isTerminal: Bool
    /// How many columns of the terminal's line are written on.
    private var shown = 0
    /// When the next line is due that is not for a terminal, and how long after it the one that follows.
    private var next: (time: Double, pause: Double)?

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    /// Seconds until the first line that is not for a terminal, and between those that follow at the most.
    private static let firstPause = 10.0
    private static let longestPause = 300.0

    /// - Parameters:
    ///   - columns: The terminal's width.
    ///   - now: Seconds of any clock that runs evenly.
    /// - Returns: What is to be written.
    mutating func show(_ progress: TransferProgress, columns: Int, now: Double) -> String {
        guard isTerminal else { return line(progress, now) }
        // In the last column many terminals go on to the next line.
        let text = Self.text(progress, most: max(0, columns - 1))
        let rest = min(shown, columns - 1) - text.count
        shown = text.count
        return "\r" + text + String(repeating: " ", count: max(0, rest))
    }

    private mutating func line(_ progress: TransferProgress, _ now: Double) -> String {
        guard let next else {
            self.next = (now + Self.firstPause, Self.firstPause * 2)
            return ""
        }
        guard now >= next.time else { return "" }
        self.next = (now + next.pause, min(next.pause * 2, Self.longestPause))
        return Self.text(progress, most: .max) + "\n"
    }

    /// The end of what was shown.
    /// - Parameter keepsLine: Whether what is on the terminal stays, and what follows is below it.
    mutating func end(keepsLine: Bool) -> String {
        next = nil
        guard shown > 0 else { return "" }
        defer { shown = 0 }
        return keepsLine ? "\n" : "\r" + String(repeating: " ", count: shown) + "\r"
    }

    /// As much of it as has room, whole words before parts of one.
    private static func text(_ progress: TransferProgress, most: Int) -> String {
        var parts = Format.progressParts(progress)[...]
        while parts.count > 1, parts.joined(separator: ", ").count > most { parts.removeLast() }
        return String(parts.joined(separator: ", ").prefix(most))
    }
}
