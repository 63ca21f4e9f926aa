internal import Glibc

/// The contents of proc_pid_status(5) for a thread; empty if it has exited or may not be inspected.
struct ProcessStatus {
    private let text: String

    init(of thread: Int32) {
        text = thread > 0 ? Self.read("/proc/\(thread)/status") : ""
    }

    /// The text of a line after its name, which ends with a colon.
    func field(_ name: String) -> String? {
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            return String(line.dropFirst(name.count).drop { $0 == "\t" || $0 == " " })
        }
        return nil
    }

    /// Reads a file of which each read returns at most one buffer.
    private static func read(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(file, &bytes, bytes.count)
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += bytes.prefix(count)
        }
    }
}
