/// The state of a scan of the backing tree. After a clean stop there is no scan.
struct ScanState {
    let mode: ScanMode
    /// Whether the database was empty when this run began.
    let knewNothing: Bool
    /// Where files are moved that must not stay in the tree.
    let folders: StateFolders
    /// The folders that were compared in this run.
    var compared: Set<ItemNumber> = []
    /// Nodes that were not found at their places. They are found elsewhere or, when the scan ends, are gone.
    private(set) var missing: [ItemNumber: Node] = [:]
    private var missingByInode: [UInt64: Node] = [:]
    /// One node for each file with several names, by its inode number in the backing tree.
    var linkedBelow: [UInt64: Node] = [:]
    /// The places of placeholders that were taken out of the tree because they had never been recorded.
    var strays: Set<ItemPlace> = []

    init(mode: ScanMode, knewNothing: Bool, folders: StateFolders) {
        (self.mode, self.knewNothing, self.folders) = (mode, knewNothing, folders)
    }

    mutating func markMissing(_ node: Node) {
        missing[node.number] = node
        missingByInode[node.fingerprint.inode] = node
    }

    /// Called when the node was found, or was removed permanently.
    mutating func forget(_ node: Node) { missing[node.number] = nil }

    func isMissing(_ node: Node) -> Bool { missing[node.number] != nil }

    /// The missing node to which this file belonged when it was last seen.
    func missingNode(_ fingerprint: FileFingerprint, _ kind: ItemKind?) -> Node? {
        guard let node = missingByInode[fingerprint.inode], node.fingerprint.isSameFile(as: fingerprint),
            node.kind == kind, isMissing(node)
        else { return nil }
        return node
    }

    /// Called when all folders were compared and the missing items are decided.
    mutating func forgetFound() {
        (missing, missingByInode, linkedBelow, strays) = ([:], [:], [:], [])
    }
}

extension Tree {
    /// Whether the folder can be served as it is.
    func isSettled(_ folder: Node) -> Bool { scan?.compared.contains(folder.number) ?? true }

    /// Whether the scan has not found the node yet.
    func isMissing(_ node: Node) -> Bool { scan?.isMissing(node) ?? false }

    /// Whether this is a scan of a tree that may have lost files.
    var mayHaveLostFiles: Bool { scan?.mode.isCareful ?? false }
}

/// How folders are compared with the backing tree when they are loaded, in the order of increasing care. The database has the
/// numbers.
enum ScanMode: Int, Comparable {
    /// The daemon died: what is missing from the tree was removed.
    case afterCrash = 1
    /// The database was empty: what is in the tree may already be in the store.
    case importing
    /// A power cut: what is missing from the tree is restored from the store.
    case afterPowerCut
    /// The tree or the database was exchanged: not even rows known to be on the disk say anything about this tree.
    case afterExchange

    /// Whether what is missing may have been lost rather than removed.
    var isCareful: Bool { self >= .afterPowerCut }
    static func < (one: ScanMode, other: ScanMode) -> Bool { one.rawValue < other.rawValue }
}
