import Glibc

/// Progress: on a terminal one line that is written again and again, elsewhere a line each time.
enum ProgressLine {
    /// Set while the terminal's line shows progress. One thread writes.
    nonisolated(unsafe) private static var isShown = false

    /// Shows how far it is now.
    static func show(_ text: String) {
        guard isatty(1) == 1 else { return Output.line(text) }
        Output.raw("\r\u{1B}[K" + text.prefix(columns() - 1))
        isShown = true
    }

    /// Clears the line before something else is written.
    static func end() {
        guard isShown else { return }
        Output.raw("\r\u{1B}[K")
        isShown = false
    }

    /// The terminal's width; a longer line would not be written over.
    private static func columns() -> Int {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 10 else { return 80 }
        return Int(size.ws_col)
    }
}
