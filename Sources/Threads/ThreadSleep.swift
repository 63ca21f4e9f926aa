internal import Glibc

/// An uninterruptible sleep of a thread of this process in the kernel, such as for a folder's lock.
struct ThreadSleep: Equatable {
    /// The number of times the thread went to sleep, which distinguishes one sleep from the next.
    var count: UInt64

    init(count: UInt64) { self.count = count }

    /// Nil if the thread does not sleep, or is gone.
    init?(thread: Int32) {
        let file = open("/proc/self/task/\(thread)/status", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let length = read(file, &bytes, bytes.count)
        self.init(status: String(decoding: bytes.prefix(max(0, length)), as: UTF8.self))
    }

    /// - Parameter status: The contents of proc_pid_status(5).
    init?(status: String) {
        var (isAsleep, count): (Bool, UInt64?) = (false, nil)
        for line in status.split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count > 1 else { continue }
            switch words[0] {
            case "State:": isAsleep = words[1] == "D"
            case "voluntary_ctxt_switches:": count = UInt64(words[1])
            default: continue
            }
        }
        guard isAsleep, let count else { return nil }
        self.count = count
    }
}
