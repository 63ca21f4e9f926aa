internal import Glibc

/// Names of programs, from proc(5).
enum ProgramName {
    /// The names of a thread, its process and its executable; none if it has exited or may not be inspected.
    static func names(of thread: Int32) -> [String] {
        guard thread > 0 else { return [] }
        let status = ProcessStatus(of: thread)
        let own = (status.field("Name:").map { [$0] } ?? []) + executable(of: thread)
        guard let group = status.field("Tgid:").flatMap(Int32.init), group != thread else { return own }
        return own + (ProcessStatus(of: group).field("Name:").map { [$0] } ?? [])
    }

    /// The last component of the executable's path: a thread's own name is cut at 15 bytes, and can be set to anything.
    private static func executable(of thread: Int32) -> [String] {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/\(thread)/exe", &path, path.count)
        guard count > 0 else { return [] }
        var name = path[..<count].map(UInt8.init(bitPattern:))[...]
        if let slash = name.lastIndex(of: UInt8(ascii: "/")) { name = name[(slash + 1)...] }
        return [String(decoding: name, as: UTF8.self)]
    }
}
