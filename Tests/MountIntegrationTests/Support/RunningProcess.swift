import Foundation
import Glibc
import ReplicaTestSupport

/// A process, identified by its ID and its start time.
struct RunningProcess: Equatable, Sendable {
    let id: pid_t
    let name: String
    let group: pid_t
    /// In clock ticks since boot.
    let start: UInt64

    /// Nil if there is none, or only a zombie.
    init?(_ id: pid_t) {
        // The process's memory is not read: that would hang for a process that is just being started from a dead mount.
        guard let data = FileManager.default.contents(atPath: "/proc/\(id)/stat") else { return nil }
        let line = String(decoding: data, as: UTF8.self)
        guard let open = line.firstIndex(of: "("), let close = line.lastIndex(of: ")") else { return nil }
        let fields = line[close...].dropFirst(2).split(separator: " ")
        guard fields.count > 19, let group = pid_t(fields[2]), let start = UInt64(fields[19]),
            fields[0] != "Z", fields[0] != "X"
        else { return nil }
        self.id = id
        self.name = String(line[line.index(after: open)..<close])
        self.group = group
        self.start = start
    }

    /// All processes of a group.
    static func inGroup(_ group: pid_t) -> [RunningProcess] {
        // Most scripts leave nothing. A zombie still belongs to its group.
        guard kill(-group, 0) == 0 else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0).flatMap(RunningProcess.init) }.filter { $0.group == group }
    }

    var isRunning: Bool { RunningProcess(id)?.start == start }

    /// Waits until it has ended; false after a timeout.
    func ends(by end: ContinuousClock.Instant) async throws -> Bool {
        while isRunning {
            guard ContinuousClock.now < end else { return false }
            try await Task.sleep(for: .milliseconds(20))
        }
        return true
    }

    /// Kills it, even if it ignores signals.
    func end() async throws {
        if isRunning { kill(id, SIGKILL) }
        _ = try await ends(by: .now + eventLimit)
    }
}
