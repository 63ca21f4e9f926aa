import FoundationEssentials
import Glibc
import ReplicaControl
import SystemPackage

/// Inspects processes in /proc. Processes of other users, and those that have ended, are skipped.
enum ProcessInspection {
    /// Whether it was stopped by a signal.
    static func isStopped(_ process: Int32) -> Bool {
        text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ").first == "T"
    }

    /// The number of its open descriptors, and its limit; nil if they can't be read.
    static func descriptors(of process: Int32) -> MachineFacts.Usage? {
        let line = text("/proc/\(process)/limits").split(separator: "\n").first { $0.hasPrefix("Max open files") }
        guard let limit = line.flatMap({ $0.split(separator: " ").dropFirst(3).first.flatMap { Int($0) } }) else {
            return nil
        }
        let used = names(in: "/proc/\(process)/fd").count
        return used == 0 ? nil : MachineFacts.Usage(used: used, limit: limit)
    }

    /// The inotify instances and watches of all processes of a user.
    static func inotify(of user: UInt32) -> (instances: Int, watches: Int) {
        var (instances, watches) = (0, 0)
        for process in names(in: "/proc") where process.allSatisfy(\.isNumber) {
            var status = stat()
            guard stat("/proc/\(process)", &status) == 0, status.st_uid == user else { continue }
            for descriptor in names(in: "/proc/\(process)/fd") where isInotify("/proc/\(process)/fd/\(descriptor)") {
                instances += 1
                watches += text("/proc/\(process)/fdinfo/\(descriptor)").split(separator: "\n")
                    .count { $0.hasPrefix("inotify ") }
            }
        }
        return (instances, watches)
    }

    /// Whether this user can have no more inotify instances or watches. `/proc` does not show an ordinary user what its
    /// daemons have: they are not dumpable.
    static func isInotifyUsedUp() -> (instances: Bool, watches: Bool) {
        let queue = inotify_init1(Int32(IN_CLOEXEC))
        guard queue >= 0 else { return (errno == EMFILE, false) }
        defer { close(queue) }
        return (false, inotify_add_watch(queue, "/", UInt32(IN_DELETE_SELF)) < 0 && errno == ENOSPC)
    }

    private static func isInotify(_ link: String) -> Bool {
        let name = Array("anon_inode:inotify".utf8)
        var bytes = [CChar](repeating: 0, count: name.count + 1)
        let count = readlink(link, &bytes, bytes.count)
        return count == name.count && bytes.prefix(count).map { UInt8(bitPattern: $0) } == name
    }

    /// A file's text; empty if it can't be read.
    static func text(_ path: FilePath) -> String {
        do { return String(decoding: try FileBytes.readIfPresent(path, limit: 1 << 26) ?? [], as: UTF8.self) } catch {
            return ""
        }
    }

    static func text(_ path: String) -> String { text(FilePath(path)) }

    private static func names(in folder: String) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: folder) } catch { return [] }
    }
}
