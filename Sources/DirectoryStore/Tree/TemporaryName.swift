import CLinux
import Glibc
import ReplicaModel
import Threads

/// Names of incomplete files and of files being removed. Listings omit them.
enum TemporaryName {
    static let prefix = Array(".replica-tmp-".utf8)
    /// A file of a daemon on another machine, or from an earlier boot, is removed if it is unchanged for this time. The
    /// time is long because another machine may be using the same directory.
    static let longestLife = Duration.seconds(3_600)
    private static let counter = Locked<UInt64>(0)

    static func make() -> FileName {
        let number = counter.withLock {
            $0 += 1
            return $0
        }
        return FileName(bytes: own + Array("\(number)".utf8))
    }

    private static let own = prefix + Array("\(Maker.own.text)-".utf8)

    static func matches(_ name: FileName) -> Bool { name.bytes.starts(with: prefix) }

    /// Whether it is a temporary name of another process.
    static func isOfAnother(_ name: FileName) -> Bool { matches(name) && !name.bytes.starts(with: own) }

    /// Whether it is a temporary name of a process that has exited, so that the file will never be completed.
    static func isOfDead(_ name: FileName) -> Bool {
        guard matches(name), !name.bytes.starts(with: own) else { return false }
        return Maker(String(decoding: name.bytes.dropFirst(prefix.count), as: UTF8.self))?.isDead ?? false
    }
}

/// A process that creates temporary files.
private struct Maker {
    /// The boot ID of its run, and its PID namespace.
    var boot: String
    var space: String
    var process: Int32
    /// Its start time, in ticks since boot: the PID may have been reused.
    var start: String

    static let own = Maker(
        boot: currentBoot, space: currentSpace, process: getpid(), start: state(of: getpid())?.start ?? "0")

    var text: String { "\(boot)-\(space)-\(process)-\(start)" }

    init(boot: String, space: String, process: Int32, start: String) {
        (self.boot, self.space, self.process, self.start) = (boot, space, process, start)
    }

    /// Parses a name that starts with ``text``.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 5, let process = Int32(parts[2]), process > 0 else { return nil }
        self.init(boot: String(parts[0]), space: String(parts[1]), process: process, start: String(parts[3]))
    }

    /// False also if that can't be determined: for another machine, an earlier boot or another namespace.
    var isDead: Bool {
        guard boot == Self.own.boot, space == Self.own.space else { return false }
        if kill(process, 0) != 0 { return errno == ESRCH }
        return Self.state(of: process).map { $0.start != start || $0.hasEnded } ?? false
    }

    private static var currentBoot: String {
        String((read(CL_BOOT_ID) ?? "").filter { $0.isHexDigit }.prefix(16))
    }

    private static var currentSpace: String {
        var text = [UInt8](repeating: 0, count: 64)
        let length = text.withUnsafeMutableBytes { readlink("/proc/self/ns/pid", $0.baseAddress!, $0.count) }
        return String(decoding: text.prefix(max(0, length)), as: UTF8.self).filter { $0.isNumber }
    }

    /// From proc_pid_stat(5): the start time of the process, and whether it is a zombie.
    private static func state(of process: Int32) -> (start: String, hasEnded: Bool)? {
        // The second field may contain anything, but ends with the last parenthesis. The third field follows it.
        guard let line = read("/proc/\(process)/stat"), let end = line.lastIndex(of: ")") else { return nil }
        let fields = line[line.index(after: end)...].split(separator: " ")
        guard fields.count > 19 else { return nil }
        let threads = Int(fields[17]) ?? 0
        return (String(fields[19]), ["Z", "X"].contains(fields[0]) && threads <= 1)
    }

    private static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 4096)
        let length = Glibc.read(file, &text, text.count)
        return length < 0 ? nil : String(decoding: text.prefix(length), as: UTF8.self)
    }
}
