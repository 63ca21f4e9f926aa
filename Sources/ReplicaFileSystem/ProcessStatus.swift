internal import Glibc

/// What proc_pid_status(5) says of a thread; nothing when it is gone or not ours to see.
struct ProcessStatus {
    private let text: String

    init(of thread: Int32) {
        text = thread > 0 ? Self.read("/proc/\(thread)/status") : ""
    }

    /// A line's text behind its name, which ends with a colon.
    func field(_ name: String) -> String? {
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            return String(line.dropFirst(name.count).drop { $0 == "\t" || $0 == " " })
        }
        return nil
    }

    /// A file of which each read gives no more than what there is room for.
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
