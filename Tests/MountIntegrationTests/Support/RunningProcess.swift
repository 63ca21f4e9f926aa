import Foundation
import Glibc

/// A process, told from a later one of its number by when it started.
struct RunningProcess: Equatable, Sendable {
    let id: pid_t
    let name: String
    let group: pid_t
    /// In clock ticks since the machine started.
    let start: UInt64

    /// Nil where there is none, or only what nobody has waited for yet.
    init?(_ id: pid_t) {
        // No memory of the process is looked at: that of one that is just being started from a dead mount can't be.
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

    /// All of a process group.
    static func inGroup(_ group: pid_t) -> [RunningProcess] {
        // Most scripts leave nothing. A process that has ended and was not waited for yet is still of its group.
        guard kill(-group, 0) == 0 else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0).flatMap(RunningProcess.init) }.filter { $0.group == group }
    }

    var isRunning: Bool { RunningProcess(id)?.start == start }

    /// Waits until it has ended; false when it has not by then.
    func ends(by end: ContinuousClock.Instant) async throws -> Bool {
        while isRunning {
            guard ContinuousClock.now < end else { return false }
            try await Task.sleep(for: .milliseconds(20))
        }
        return true
    }

    /// Ends it, whatever it does about signals.
    func end() async throws {
        if isRunning { kill(id, SIGKILL) }
        _ = try await ends(by: .now + .seconds(30))
    }
}
