/// What a scan of the backing tree has met so far. After an orderly stop there is none to make.
struct ScanState {
    var mode = ScanMode.none
    /// Whether the database was empty when this run began.
    var knewNothing = false
    /// The folders that were compared in this run.
    var compared: Set<ItemNumber> = []
    /// Nodes that were not where they had been: they are found elsewhere or, once the scan is over, gone.
    private(set) var missing: [ItemNumber: Node] = [:]
    private var missingByInode: [UInt64: Node] = [:]
    /// A node of each file with several names, by its inode number in the backing tree.
    var linkedBelow: [UInt64: Node] = [:]
    /// Where placeholders were removed that nobody had recorded.
    var strays: Set<ItemPlace> = []

    /// Whether folders are to be compared.
    var isRunning: Bool { mode != .none }
    /// Whether the tree may have lost files.
    var isCareful: Bool { mode.isCareful }

    mutating func lose(_ node: Node) {
        missing[node.number] = node
        missingByInode[node.fingerprint.inode] = node
    }

    /// The node is found, or gone for good.
    mutating func forget(_ node: Node) { missing[node.number] = nil }

    func isMissing(_ node: Node) -> Bool { missing[node.number] != nil }

    /// The missing node that this file was when it was last seen.
    func missingNode(_ fingerprint: FileFingerprint, _ kind: ItemKind?) -> Node? {
        guard let node = missingByInode[fingerprint.inode], node.fingerprint.isSameFile(as: fingerprint),
            node.kind == kind, isMissing(node)
        else { return nil }
        return node
    }

    /// Whether the folder may be served as it is.
    func isSettled(_ folder: ItemNumber) -> Bool { !isRunning || compared.contains(folder) }

    /// All folders were compared, and what was missing is settled.
    mutating func forgetFound() {
        (missing, missingByInode, linkedBelow, strays) = ([:], [:], [:], [])
    }

    mutating func end() { (mode, compared) = (.none, []) }
}

/// Whether folders are compared with the backing tree when they are loaded; the later ones are the more careful.
enum ScanMode: Int, Comparable {
    /// The last stop was orderly.
    case none
    /// The daemon died: what is gone from the tree was removed.
    case afterCrash
    /// Nothing was known before: what is in the tree may be in the store already.
    case importing
    /// Power failed: what is gone from the tree is brought back.
    case afterPowerCut
    /// The tree or the database was exchanged: also what is known of the disk says nothing of this tree.
    case afterExchange

    /// Whether what is gone may be lost.
    var isCareful: Bool { self >= .afterPowerCut }
    static func < (one: ScanMode, other: ScanMode) -> Bool { one.rawValue < other.rawValue }
}
