import Threads

@testable import ReplicaModel
@testable import ReplicaTestSupport

/// Alone, no work of the engine's moves, changes or hides anything for a moment, also right after a crash.
extension World {
    func unmoved(_ body: () async throws -> Void) async throws {
        let isQuiet = script.withLock { script in
            script.alarms.allSatisfy {
                if case .local = $0.event { false } else { true }
            }
        }
        guard profile == .alone, isQuiet else { return try await body() }
        let before = try Disk.entries(folders.tree)
        still.withLock { $0 = before }
        defer { still.withLock { $0 = nil } }
        try await body()
        checkStill()
    }

    /// Looks whether the tree is as it was.
    func checkStill() {
        guard let before = still.withLock({ $0 }), let now = try? Disk.entries(folders.tree) else { return }
        for path in Set(before.keys).union(now.keys).sorted() {
            let (old, new) = (before[path], now[path])
            // A dataless item may appear, or disappear if it was not recorded.
            if old == new || old?.isDataless == true && (new == nil || new?.kind == .file) { continue }
            rules.violate("\(path) was moved: \(old?.text ?? "-") is \(new?.text ?? "-")")
        }
    }
}
