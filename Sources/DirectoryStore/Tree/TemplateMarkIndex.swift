import ReplicaModel

/// Maps templates' marks to files and folders, for the most recently queried folders. Each folder is searched once;
/// entries that the store creates there later are recorded before they get their names, so that the index stays
/// complete.
struct TemplateMarkIndex {
    /// The number of folders that are kept.
    private static let mostFolders = 8
    /// How long a folder is kept without being queried.
    static let longestLife = Duration.seconds(60)

    private struct Folder {
        /// By the hash of the mark: the mark of a found entry has to be verified.
        var names: [UInt64: FileName] = [:]
        var isWhole = false
    }

    private var folders: [ItemKey: Folder] = [:]
    /// Least recently queried first.
    private var order: [ItemKey] = []
    private var asked = ContinuousClock.now
    /// The number of entries whose marks were checked.
    var checks = 0

    /// The entries of a folder that may carry a mark.
    /// - Returns: Nil if the folder was not searched.
    mutating func name(of template: ItemIdentifier, in folder: ItemKey) -> FileName?? {
        asked = .now
        guard let known = folders[folder], known.isWhole else { return nil }
        order.removeAll { $0 == folder }
        order.append(folder)
        return .some(known.names[Self.hash(template.rawValue.utf8)])
    }

    /// Begins the search of a folder: entries recorded from now on are kept.
    mutating func begin(_ folder: ItemKey) {
        folders[folder] = Folder()
        order.removeAll { $0 == folder }
        order.append(folder)
        if order.count > Self.mostFolders { folders[order.removeFirst()] = nil }
    }

    /// Adds the entries seen in a folder since ``begin(_:)``.
    mutating func finish(_ folder: ItemKey, _ seen: [(mark: [UInt8], name: FileName)]) {
        guard folders[folder] != nil else { return }
        for (mark, name) in seen { note(Self.hash(mark), name, in: folder, replacing: false) }
        folders[folder]?.isWhole = true
    }

    /// Records an entry that the store is about to create.
    mutating func note(_ template: ItemIdentifier, _ name: FileName, in folder: ItemKey) {
        note(Self.hash(template.rawValue.utf8), name, in: folder, replacing: true)
    }

    private mutating func note(_ hash: UInt64, _ name: FileName, in folder: ItemKey, replacing: Bool) {
        guard replacing || folders[folder]?.names[hash] == nil else { return }
        folders[folder]?.names[hash] = name
    }

    /// Removes the record of an entry that was not created.
    mutating func withdraw(_ template: ItemIdentifier, in folder: ItemKey) {
        folders[folder]?.names[Self.hash(template.rawValue.utf8)] = nil
    }

    /// Drops folders that were not queried recently.
    mutating func dropIdle(now: ContinuousClock.Instant = .now) {
        guard !folders.isEmpty, now - asked > Self.longestLife else { return }
        (folders, order) = ([:], [])
    }

    private static func hash(_ mark: some Sequence<UInt8>) -> UInt64 {
        var hash = StableHash()
        hash.add(mark)
        return hash.value
    }
}
