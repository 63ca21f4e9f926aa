internal import ReplicaModel

/// The known state of an item: the storage's answers, and what was sent. Large: the columns of a table.
struct PathRow: Hashable, Sendable {
    /// Random, never reused; 0 for the root.
    var id: Int64
    /// The folder's ``id``; ``limbo`` for a missing item, until it is found elsewhere or known to be gone.
    var parent: Int64
    var name: FileName
    var kind: ItemKind
    var target: [UInt8]?
    /// The storage's version as last reported; for a folder, the version when everything known below it was last
    /// compared.
    var version: String?
    var size: Int64
    /// The content version reported to the engine: changes whenever the content may have changed.
    var token: String
    /// The metadata version: the number of the last change.
    var revision: Int64
    /// The attributes as the storage reports them, which may be coarser than what was sent.
    var told = PathAttributes()
    /// The attributes that were sent, as long as the storage reports their rounded form.
    var meant = PathAttributes()
    var mark: String?
    var identity: String?
    /// The hash of a content that was written here, kept as long as another client's write may produce the same
    /// version.
    var hash: [UInt8]?
    /// When an unsettled version, which a later write may produce again, was first seen, in nanoseconds of the store's
    /// clock; nil for a settled version.
    var seenAt: Int64?
    /// Whether a folder was listed, so that its entries are compared.
    var isListed = false

    static let root: Int64 = 0
    static let limbo: Int64 = -1

    /// A row of an unknown item. It gets its versions when it is written to the table.
    init(id: Int64, parent: Int64, name: FileName, entry: PathEntry) {
        self.id = id
        self.parent = parent
        self.name = name
        kind = entry.kind.itemKind
        if case .symlink(let target) = entry.kind { self.target = target }
        version = kind == .folder ? nil : entry.version
        size = kind == .file ? entry.size : 0
        token = ""
        revision = 0
        told = PathAttributes(mode: entry.attributes.mode, modificationDate: entry.attributes.modificationDate)
        mark = entry.attributes.mark
        identity = entry.identity
    }

    /// A row of these parts.
    init(id: Int64, parent: Int64, name: FileName, kind: ItemKind, size: Int64, token: String, revision: Int64) {
        (self.id, self.parent, self.name, self.kind) = (id, parent, name, kind)
        (self.size, self.token, self.revision) = (size, token, revision)
    }

    /// Whether an entry at the row's place is this item, as far as can be determined.
    func isSame(as entry: PathEntry) -> Bool {
        guard kind == entry.kind.itemKind else { return false }
        if case .symlink(let target) = entry.kind, target != self.target { return false }
        guard let identity, let other = entry.identity else { return true }
        return identity == other
    }

    /// Records the attributes that the storage reports; nil means not reported.
    mutating func take(_ attributes: PathAttributes) {
        if let mode = attributes.mode, mode != told.mode { (told.mode, meant.mode) = (mode, nil) }
        if let date = attributes.modificationDate, date != told.modificationDate {
            (told.modificationDate, meant.modificationDate) = (date, nil)
        }
    }

    /// Records what was sent, and the storage's answer.
    mutating func take(_ attributes: PathAttributes, sent: PathAttributes) {
        take(attributes)
        if let mode = sent.mode { meant.mode = mode }
        if let date = sent.modificationDate { meant.modificationDate = date }
    }
}

extension PathKind {
    var itemKind: ItemKind {
        switch self {
        case .file: .file
        case .folder: .folder
        case .symlink: .symlink
        }
    }
}
