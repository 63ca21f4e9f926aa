internal import Glibc

/// What programs are called, by proc(5).
enum ProgramName {
    /// The names of a thread and of its process; none when it is gone or not ours to see.
    static func names(of thread: Int32) -> [String] {
        guard thread > 0 else { return [] }
        let status = text(of: "/proc/\(thread)/status")
        let own = field("Name:", in: status).map { [$0] } ?? []
        guard let group = field("Tgid:", in: status), group != String(thread) else { return own }
        return own + (field("Name:", in: text(of: "/proc/\(group)/status")).map { [$0] } ?? [])
    }

    private static func field(_ name: String, in status: String) -> String? {
        for line in status.split(separator: "\n") where line.hasPrefix(name) {
            return String(line.dropFirst(name.count).drop { $0 == "\t" || $0 == " " })
        }
        return nil
    }

    private static func text(of path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
