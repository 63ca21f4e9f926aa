internal import SystemPackage

/// How much of an item's content is here. A folder's content is its listing.
package enum Materialization: UInt8, Sendable {
    case whole = 0
    /// Some ranges of a file are here.
    case partial = 1
    case dataless = 2
}

/// What a person asked to be kept here.
package enum Pin: UInt8, Sendable {
    /// As the folder above says.
    case inherited = 0
    case pinned = 1
    case unpinned = 2
}

/// What else is true of an item.
struct NodeFlags: OptionSet {
    let rawValue: UInt32

    /// Gone from the tree; its deletion is still to be sent.
    static let deleted = NodeFlags(rawValue: 1)
    /// A createItem was sent whose answer is not recorded: the store may have the item (statement 73).
    static let createSent = NodeFlags(rawValue: 2)
    /// The next createItem says that the store may have the item already (statement 15).
    static let mayAlreadyExist = NodeFlags(rawValue: 4)
    /// The next createItem follows a deletion in the store (MODEL.md#conflicts).
    static let deletionConflicted = NodeFlags(rawValue: 8)
    /// The store will not have it.
    static let excluded = NodeFlags(rawValue: 16)
    /// Open for writing when last recorded: whoever holds it may go on after a crash of the daemon.
    static let writing = NodeFlags(rawValue: 32)
    /// A copy of the local side of a conflict.
    static let conflict = NodeFlags(rawValue: 64)
    /// The item is of an import that has not finished.
    static let importing = NodeFlags(rawValue: 128)
    /// The store answered that the item shall not be there: it stays local until it is edited.
    static let refused = NodeFlags(rawValue: 512)
    /// A listed folder that the store may have more in than we know.
    static let needsListing = NodeFlags(rawValue: 1024)
    /// Neither file, folder nor symlink: local only.
    static let special = NodeFlags(rawValue: 256)
    /// Its identifier is no longer valid: it is to be sent as a new item again (statements 27 to 39).
    static let reimport = NodeFlags(rawValue: 2048)
    /// The store, which has it, will not have it any more: see ``Tree/withdraw(_:)``.
    static let leaving = NodeFlags(rawValue: 4096)

    /// When the power was cut it was not known to be on this disk as it is recorded here: it is compared with the store's
    /// before it is served or sent.
    static let doubtful = NodeFlags(rawValue: 8192)
    /// The same of the store's disk: what the store says of it may be what a power cut left there.
    static let unconfirmed = NodeFlags(rawValue: 16384)
    /// That the two sides are to be compared, whatever is recorded.
    static let inDoubt: NodeFlags = [.doubtful, .unconfirmed]

    /// What is said of an item until the store has answered what it makes of it.
    static let untilCreated: NodeFlags = [.createSent, .mayAlreadyExist, .deletionConflicted, .importing, .reimport]
}

/// What the filesystem below says of an item when it was last looked at.
struct FileFingerprint: Hashable {
    var inode: UInt64 = 0
    var born: Int64 = 0
    var size: Int64 = 0
    var modified: Int64 = 0
    var changed: Int64 = 0
    var mode: UInt16 = 0

    init() {}

    init(_ status: FileStatus) {
        inode = status.inode
        born = status.born.nanoseconds
        size = status.size
        modified = status.modified.nanoseconds
        changed = status.changed.nanoseconds
        mode = status.permissions
    }

    /// Whether both are of one file, whatever happened to it between.
    func isSameFile(as other: FileFingerprint) -> Bool { inode == other.inode && born == other.born }
    /// Whether the content may differ.
    func hasOtherContent(than other: FileFingerprint) -> Bool { inode != other.inode || hasOtherBytes(than: other) }
    /// Whether the content differs of what may be a copy: a restored tree has other inodes.
    func hasOtherBytes(than other: FileFingerprint) -> Bool { size != other.size || modified != other.modified }
}

/// Where an item was when it was sent, and what the template was called: the same at every attempt (statements 71 to
/// 73), and never again after the store has made an item of it.
struct SentPlace: Hashable {
    var parent: ItemNumber
    var name: FileName
    var template: ItemIdentifier
}

/// What is known of content that was sent, and whose arrival was not answered.
struct SentContent: Hashable {
    var size: Int64
    var modified: Int64
    /// Where the store was to put it.
    var parent: ItemNumber
    var name: FileName

    /// Whether the store's item has this content: another writer would have left another time.
    func isContent(of item: Item) -> Bool {
        guard item.size == size else { return false }
        guard let date = item.metadata.modificationDate else { return true }
        return date.nanoseconds == modified
            || date.subsecond == 0 && date.seconds == Timestamp(nanoseconds: modified).seconds
    }

    /// Whether a file still has this content.
    func isContent(of fingerprint: FileFingerprint) -> Bool {
        fingerprint.size == size && fingerprint.modified == modified
    }
}

/// Where the local side of a conflict comes from.
struct ConflictOrigin: Hashable {
    /// The item that has the store's side.
    var original: ItemIdentifier
    /// Seconds since 1970.
    var date: Double
}

/// Why an item is not in step, and when it is tried again.
struct Failure: Hashable {
    /// A ``RemoteStoreError/code``.
    var code: String
    /// For a person; may name paths, never secrets.
    var message: String
    var attempts: Int
    /// Seconds since 1970; nil when it waits for a person or an edit.
    var retryAt: Double?
}

/// An item in memory. Only touched under the tree's lock. Items are many: the fields stand in an order that leaves few
/// gaps, and what few of them have is apart.
final class Node {
    let number: ItemNumber
    /// Nil for the root and for what is deleted.
    var parent: Node?
    var name: FileName
    var base: Base?
    var fingerprint = FileFingerprint()
    let kind: ItemKind
    var materialization = Materialization.whole
    var pin = Pin.inherited
    var flags: NodeFlags = []
    /// What the store does not know yet.
    var dirty: ItemFields = []
    /// What few items have at a time; nil when it would be empty.
    private var rareFields: RareFields?

    // What follows is only in memory.

    /// What was edited since the call that is under way began.
    var dirtySinceSent: ItemFields = []
    /// An `O_PATH` descriptor of a folder, or of a file that is open and has lost its name; -1 for none.
    var descriptor: Int32 = -1
    /// The entries of a folder; nil until they are loaded.
    var children: NodeTable<FileName>?
    /// How often the kernel was told of it (FUSE's lookup count).
    var lookups: UInt64 = 0
    var opens: Int32 = 0
    var writers: Int32 = 0
    /// Raised when another file below takes this one's place while the kernel knows it.
    var generation: UInt32 = 0
    /// The file below that the kernel knows by the item's node ID; nil until it was told.
    var shown: FileIdentity?
    /// Raised when the content is given back, and when a folder's listing begins to come: what began before counts no
    /// more.
    var evictions: UInt32 = 0
    /// Raised by every local change: an answer of the store counts for the edit it was sent for.
    var edits: UInt64 = 0
    /// When it was last changed or used, on the replica's clock.
    var changedAt = 0.0
    var usedAt = 0.0
    /// Whether a call of the store is under way for it.
    var isInFlight = false
    /// Whether that call asks what became of an earlier one.
    var isResolving = false
    /// Whether a folder has a default ACL; nil when not looked up.
    var hasDefaultACL: Bool?
    /// Whether a file is known to have no `security.capability`, for which the kernel asks at the first write.
    var lacksCapability = false
    /// Whether the database has this node's present state.
    var isRecorded = false

    init(number: ItemNumber, parent: Node?, name: FileName, kind: ItemKind) {
        self.number = number
        self.parent = parent
        self.name = name
        self.kind = kind
    }

    /// The inode number that programs see: ``number``, but for the later names of a hard-linked file.
    var inodeNumber: ItemNumber {
        get { rareFields?.inodeNumber ?? number }
        set { setRareField(\.inodeNumber, newValue == number ? nil : newValue) }
    }
    /// The ranges that are here, of a partial file.
    var ranges: RangeSet64 {
        get { rareFields?.ranges ?? RangeSet64() }
        set { setRareField(\.ranges, newValue.isEmpty ? nil : newValue) }
    }
    var failure: Failure? {
        get { rareFields?.failure }
        set { setRareField(\.failure, newValue) }
    }
    /// Where a createItem whose answer is unknown was to make it.
    var sent: SentPlace? {
        get { rareFields?.sent }
        set { setRareField(\.sent, newValue) }
    }
    /// What a conflict copy is a copy of.
    var conflict: ConflictOrigin? {
        get { rareFields?.conflict }
        set { setRareField(\.conflict, newValue) }
    }
    /// The content of a call whose answer is unknown.
    var sentContent: SentContent? {
        get { rareFields?.sentContent }
        set { setRareField(\.sentContent, newValue) }
    }

    /// What a program has synced of an edit that the store does not have, in bytes: the database says so durably.
    var syncedSize: Int64? {
        get { rareFields?.syncedSize }
        set { setRareField(\.syncedSize, newValue) }
    }

    private func setRareField<Value>(_ field: ReferenceWritableKeyPath<RareFields, Value?>, _ value: Value?) {
        guard value != nil || rareFields != nil else { return }
        let rareFields = self.rareFields ?? RareFields()
        rareFields[keyPath: field] = value
        self.rareFields = rareFields.isEmpty ? nil : rareFields
    }

    /// Whether its content is to be compared with the store's before it is served, and before it is sent if the store is
    /// known to have it. What is deleted is served and sent no more.
    var isDoubtful: Bool {
        flags.contains(.doubtful) && !isDeleted && kind == .file && materialization == .whole
    }

    var isDeleted: Bool { flags.contains(.deleted) }
    /// Whether the store has yet to be told of the item: what ``base`` says, if anything, counts for its content only.
    var isNew: Bool { base == nil || flags.contains(.reimport) }
    /// Whether the store said that it will not have it.
    var isLocalOnly: Bool { isNew && !flags.isDisjoint(with: [.excluded, .refused]) }
    /// Whether the engine has something to send for it.
    var isPending: Bool {
        if !flags.isDisjoint(with: [.special, .excluded, .refused]) { return false }
        return isDeleted ? (base != nil || flags.contains(.createSent)) : !dirty.isEmpty || isUnanswered
    }
    /// Whether a call was made for it whose answer is unknown.
    var isUnanswered: Bool { isNew ? flags.contains(.createSent) : sentContent != nil || sent != nil }

    /// Where the store has the item, or may have it.
    var placeInStore: (parent: ItemNumber, name: FileName)? {
        if let base { return (base.parent, base.name) }
        return flags.contains(.createSent) ? sent.map { ($0.parent, $0.name) } : nil
    }

    /// Sets the bits of ``dirty`` that say whether the item stands elsewhere than in the store.
    func comparePlace() {
        guard let base, let parent else { return }
        dirty.remove(.place)
        if base.parent != parent.number { dirty.insert(.parent) }
        if !base.isNamed(name) { dirty.insert(.filename) }
    }

    /// Whether `other` is this node or above it.
    func isInside(_ other: Node) -> Bool {
        var node: Node? = self
        while let here = node {
            if here === other { return true }
            node = here.parent
        }
        return false
    }
}

/// See ``Node``.
private final class RareFields {
    var failure: Failure?
    var sent: SentPlace?
    var conflict: ConflictOrigin?
    var sentContent: SentContent?
    var inodeNumber: ItemNumber?
    var ranges: RangeSet64?
    var syncedSize: Int64?

    var isEmpty: Bool {
        failure == nil && sent == nil && conflict == nil && sentContent == nil && inodeNumber == nil && ranges == nil
            && syncedSize == nil
    }
}
