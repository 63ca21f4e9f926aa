internal import SystemPackage

extension Replica {
    /// Compares the whole tree with the database, folder by folder, other work in between; then says what is gone.
    /// Does nothing after an orderly stop. Blocks its thread for as long as it takes.
    /// - Parameter isStopped: Asked between folders; true ends the scan unfinished.
    package func scan(isStopped: () -> Bool = { false }) throws {
        guard withTree({ $0.scan.isRunning }) else { return }
        var waiting: [ItemNumber] = [.root]
        while let next = waiting.popLast() {
            if isStopped() { return }
            waiting.append(contentsOf: try compare(next))
            if withTree({ $0.unrecorded.nodes.count > Self.mostUnrecorded }) { try record() }
        }
        withTree { $0.finishScan() }
        // What was noted before an unclean stop has told the scan what it can; the store is listed anew. Not a moment
        // later: once the scan is over, what is noted is applied.
        try record { rows in
            try Incoming.removeAll(upTo: .max, from: rows)
            try Meta.scan.write(nil, to: rows)
        }
        try withTreeWaking { (tree) throws(ReplicaError) in
            tree.scan.end()
            tree.pending.wake()
        }
    }

    /// Compares one folder.
    /// - Returns: The folders in it.
    private func compare(_ number: ItemNumber) throws(ReplicaError) -> [ItemNumber] {
        do throws(ReplicaError) {
            return try withTreeWaking { (tree) throws(ReplicaError) -> [ItemNumber] in
                guard let folder = try tree.find(number), tree.scan.missing[number] == nil else { return [] }
                return try tree.children(of: folder).values.filter { $0.kind == .folder }.map(\.number).sorted()
            }
        } catch {
            // It moved since it was met; it is compared where it is met again.
            guard [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) else { throw error }
            return []
        }
    }

    /// How many changes a scan leaves unrecorded.
    private static let mostUnrecorded = 20_000

    /// Whether the tree is still being compared: nothing is sent until it is not.
    package var isScanning: Bool { withTree { $0.scan.isRunning } }
}
