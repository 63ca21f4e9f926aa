internal import Glibc

/// What programs are called, by proc(5).
enum ProgramName {
    /// The names of a thread, of its process and of the executable; none when it is gone or not ours to see.
    static func names(of thread: Int32) -> [String] {
        guard thread > 0 else { return [] }
        let status = text(of: "/proc/\(thread)/status")
        let own = (field("Name:", in: status).map { [$0] } ?? []) + executable(of: thread)
        guard let group = field("Tgid:", in: status), group != String(thread) else { return own }
        return own + (field("Name:", in: text(of: "/proc/\(group)/status")).map { [$0] } ?? [])
    }

    /// The last part of the executable's path: a thread's own name is cut at 15 bytes, and is whatever it says it is.
    private static func executable(of thread: Int32) -> [String] {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/\(thread)/exe", &path, path.count)
        guard count > 0 else { return [] }
        var name = path[..<count].map(UInt8.init(bitPattern:))[...]
        if let slash = name.lastIndex(of: UInt8(ascii: "/")) { name = name[(slash + 1)...] }
        return [String(decoding: name, as: UTF8.self)]
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
