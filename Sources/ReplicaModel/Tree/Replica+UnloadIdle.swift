extension Replica {
    /// Unloads unused items if there are many in memory.
    func unloadIdle() {
        withTree { tree in
            guard tree.items.count > Self.mostIdle else { return }
            tree.unloadFolders(limit: Self.mostIdle)
        }
    }

    private static let mostIdle = 50_000
}
