import FoundationEssentials
import Glibc
import ReplicaControl

/// Shows progress on standard error. Standard output is for results only.
enum ProgressLine {
    // One thread writes.
    nonisolated(unsafe) private static var display = ProgressDisplay(isTerminal: isatty(2) == 1)

    /// Shows the current progress.
    static func show(_ progress: TransferProgress) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        Output.progress(display.show(progress, columns: columns(), now: Double(time.tv_sec)))
    }

    /// Clears the line before a result is written.
    static func end() { Output.progress(display.end(keepsLine: false)) }

    /// Ends the line before an error is printed, so that the progress stays visible.
    static func fail() { Output.progress(display.end(keepsLine: true)) }

    /// The terminal's width; a longer line could not be overwritten.
    private static func columns() -> Int {
        var size = winsize()
        if ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        let said = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
        return said.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }
}
