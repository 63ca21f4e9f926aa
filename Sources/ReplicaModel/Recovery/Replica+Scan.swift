internal import SystemPackage

extension Replica {
    /// Compares the whole tree with the database, folder by folder and between other work, then decides what is gone.
    /// Does nothing after a clean stop. Blocks the calling thread until it has finished.
    /// - Parameter isStopped: Called between folders; if it returns true, the scan stops unfinished.
    package func scan(isStopped: () -> Bool = { false }) throws {
        guard isScanning else { return }
        var waiting: [ItemNumber] = [.root]
        while let next = waiting.popLast() {
            if isStopped() { return }
            waiting.append(contentsOf: try compare(next))
            if withTree({ $0.unrecorded.nodes.count > Self.mostUnrecorded }) { try record() }
        }
        withTree { $0.finishScan() }
        // The changes noted before the unclean stop have served their purpose, and the store is listed anew. They must
        // be removed here: they would be applied as soon as the scan has ended.
        try record { rows in
            try Incoming.removeAll(upTo: .max, from: rows)
            try Meta.scan.write(nil, to: rows)
        }
        try withTreeWaking { (tree) throws(ReplicaError) in
            tree.scan = nil
            tree.pending.wake()
        }
    }

    /// Compares one folder.
    /// - Returns: Its subfolders.
    private func compare(_ number: ItemNumber) throws(ReplicaError) -> [ItemNumber] {
        do throws(ReplicaError) {
            return try withTreeWaking { (tree) throws(ReplicaError) -> [ItemNumber] in
                guard let folder = try tree.find(number), tree.scan?.missing[number] == nil else { return [] }
                return try tree.children(of: folder).values.filter { $0.kind == .folder }.map(\.number).sorted()
            }
        } catch {
            // It was moved after it was found, and is compared where it is found again.
            guard [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) else { throw error }
            return []
        }
    }

    /// The number of unrecorded changes after which a scan records.
    private static let mostUnrecorded = 20_000

    /// Whether the tree is still being compared. Nothing is uploaded until that is finished.
    package var isScanning: Bool { withTree { $0.scan != nil } }
}
