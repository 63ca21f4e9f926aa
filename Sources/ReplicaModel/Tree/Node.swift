internal import SystemPackage

/// An item in memory. Only accessed under the tree's lock. Large: each field is a state of the item. There are many items:
/// the fields' order leaves few gaps, and rare fields are stored separately.
final class Node {
    let number: ItemNumber
    /// Nil for the root and for deleted items.
    var parent: Node?
    var name: FileName
    var base: Base?
    var fingerprint = FileFingerprint()
    let kind: ItemKind
    var materialization = Materialization.whole
    var pin = Pin.inherited
    var flags: NodeFlags = []
    /// The fields that the store does not know yet.
    var dirty: ItemFields = []
    /// Fields that few items have at a time; nil if empty.
    private var rareFields: RareFields?

    // The following is only in memory.

    /// Fields that were edited since the call in flight started.
    var dirtySinceSent: ItemFields = []
    /// An `O_PATH` descriptor of a folder, or of a file that is open and has lost its name; -1 for none.
    var descriptor: Int32 = -1
    /// The entries of a folder; nil until they are loaded.
    var children: NodeTable<FileName>?
    /// FUSE's lookup count: the kernel's references.
    var lookups: UInt64 = 0
    var opens: Int32 = 0
    var writers: Int32 = 0
    /// Whether a process may still write to it, through a mapping whose descriptor is closed.
    var mayBeMapped = false
    /// Whether its content was sent while a process could write to it, where later stores can't be noticed.
    var wasSentWhileWritten = false
    /// Whether a writer has opened it with `O_SYNC` or `O_DSYNC` since nobody had it open for writing: the kernel may pass writes
    /// through that no request reports.
    var hasSyncedWriter = false
    /// Incremented when another backing file replaces this one while the kernel knows it.
    var generation: UInt32 = 0
    /// The backing file that the kernel knows by the item's node ID; nil before its first reply.
    var kernelFile: FileIdentity?
    /// Incremented when the content is evicted, and when a folder's first listing starts: results that were requested before
    /// are dropped.
    var evictions: UInt32 = 0
    /// Incremented by every local change: an answer of the store applies to the edit that was sent.
    var edits: UInt64 = 0
    /// When it was last changed or used, on the replica's clock.
    var changedAt = 0.0
    var usedAt = 0.0
    /// Whether a call of the store is under way for it.
    var isInFlight = false
    /// Whether that call asks for the result of an earlier one.
    var isResolving = false
    /// Whether a folder has a default ACL; nil if not looked up yet.
    var hasDefaultACL: Bool?
    /// Whether a file is known to have no `security.capability`, for which the kernel asks at the first write.
    var lacksCapability = false
    /// Whether the database has this node's present state.
    var isRecorded = false
    /// Whether the database has a row for it; if writing the row failed, the next write inserts it.
    var hasRow = false

    init(number: ItemNumber, parent: Node?, name: FileName, kind: ItemKind) {
        self.number = number
        self.parent = parent
        self.name = name
        self.kind = kind
    }

    /// The inode number that programs see: ``number``, except for further names of a hard-linked file.
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
    /// The place that an unanswered createItem was to create it at.
    var sent: SentPlace? {
        get { rareFields?.sent }
        set { setRareField(\.sent, newValue) }
    }
    /// The origin of a conflict copy.
    var conflict: ConflictOrigin? {
        get { rareFields?.conflict }
        set { setRareField(\.conflict, newValue) }
    }
    /// The content of an unanswered call.
    var sentContent: SentContent? {
        get { rareFields?.sentContent }
        set { setRareField(\.sentContent, newValue) }
    }

    /// How many bytes of an unsent edit a program has synced, or may sync at any moment without a request; recorded durably.
    var syncedSize: Int64? {
        get { rareFields?.syncedSize }
        set { setRareField(\.syncedSize, newValue) }
    }
    /// The same for an edit made since the call in flight started. Only in memory.
    var syncedSinceSent: Int64? {
        get { rareFields?.syncedSinceSent }
        set { setRareField(\.syncedSinceSent, newValue) }
    }
    /// The change time that programs see instead of the file's own. Only in memory.
    var shownChange: ShownChange? {
        get { rareFields?.shownChange }
        set { setRareField(\.shownChange, newValue) }
    }

    private func setRareField<Value>(_ field: ReferenceWritableKeyPath<RareFields, Value?>, _ value: Value?) {
        guard value != nil || rareFields != nil else { return }
        let rareFields = self.rareFields ?? RareFields()
        rareFields[keyPath: field] = value
        self.rareFields = rareFields.isEmpty ? nil : rareFields
    }

    /// Whether its content has to be compared with the store's before it is served, and before it is sent if the store is
    /// known to have it. Never for deleted items.
    var isDoubtful: Bool {
        flags.contains(.doubtful) && !isDeleted && kind == .file && materialization == .whole
    }

    var isDeleted: Bool { flags.contains(.deleted) }
    /// Whether the store doesn't know the item yet; ``base``, if any, then applies to its content only.
    var isNew: Bool { base == nil || flags.contains(.reimport) }
    /// Whether the store excluded or refused it.
    var isLocalOnly: Bool { isNew && !flags.isDisjoint(with: [.excluded, .refused]) }
    /// Whether there is something to send for it.
    var isPending: Bool {
        if !flags.isDisjoint(with: [.special, .excluded, .refused]) { return false }
        return isDeleted ? (base != nil || flags.contains(.createSent)) : !dirty.isEmpty || isUnanswered
    }
    /// Whether there is an unanswered call for it.
    var isUnanswered: Bool { isNew ? flags.contains(.createSent) : sentContent != nil || sent != nil }

    /// Where the store has the item, or may have it.
    var placeInStore: (parent: ItemNumber, name: FileName)? {
        if let base { return (base.parent, base.name) }
        return flags.contains(.createSent) ? sent.map { ($0.parent, $0.name) } : nil
    }

    /// Sets the bits of ``dirty`` for a place that differs from the one in the store.
    func comparePlace() {
        guard let base, let parent else { return }
        dirty.remove(.place)
        if base.parent != parent.number { dirty.insert(.parent) }
        if !base.isNamed(name) { dirty.insert(.filename) }
    }

    /// Whether `other` is this node or one of its ancestors.
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
    var syncedSinceSent: Int64?
    var shownChange: ShownChange?

    var isEmpty: Bool {
        failure == nil && sent == nil && conflict == nil && sentContent == nil && inodeNumber == nil && ranges == nil
            && syncedSize == nil && syncedSinceSent == nil && shownChange == nil
    }
}
