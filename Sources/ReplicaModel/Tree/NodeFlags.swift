/// An item's flags. Their numbers are in the database (``RowCondition``).
struct NodeFlags: OptionSet {
    let rawValue: UInt32

    /// Deleted locally; the deletion is still to be sent.
    static let deleted = NodeFlags(rawValue: 1)
    /// A createItem was sent whose answer is not recorded: the store may have the item (statement 73).
    static let createSent = NodeFlags(rawValue: 2)
    /// The store may already have the item: the next createItem says so (statement 15).
    static let mayAlreadyExist = NodeFlags(rawValue: 4)
    /// The next createItem follows a deletion in the store (MODEL.md#conflicts).
    static let deletionConflicted = NodeFlags(rawValue: 8)
    /// The store excludes it.
    static let excluded = NodeFlags(rawValue: 16)
    /// Open for writing when last recorded: the writer may continue after a crash of the daemon.
    static let writing = NodeFlags(rawValue: 32)
    /// A copy of the local side of a conflict.
    static let conflict = NodeFlags(rawValue: 64)
    /// The item is part of an unfinished import.
    static let importing = NodeFlags(rawValue: 128)
    /// The store refused the item: it stays local until it is edited.
    static let refused = NodeFlags(rawValue: 512)
    /// A listed folder in which the store may have more items than we know.
    static let needsListing = NodeFlags(rawValue: 1024)
    /// Neither file, folder nor symlink: local only.
    static let special = NodeFlags(rawValue: 256)
    /// Its identifier is no longer valid: it has to be uploaded as a new item (statements 27 to 39).
    static let reimport = NodeFlags(rawValue: 2048)
    /// The store has it and excludes it now: see ``Tree/withdraw(_:)``.
    static let leaving = NodeFlags(rawValue: 4096)

    /// When power was cut, it was not known to be on the local disk as recorded: it is compared with the store's before it is
    /// served or sent.
    static let doubtful = NodeFlags(rawValue: 8192)
    /// The same for the store's disk: the store's state of it may be what a power cut left.
    static let unconfirmed = NodeFlags(rawValue: 16384)
    /// The two sides have to be compared, whatever is recorded.
    static let inDoubt: NodeFlags = [.doubtful, .unconfirmed]

    /// The flags that end when the store has answered a create.
    static let untilCreated: NodeFlags = [.createSent, .mayAlreadyExist, .deletionConflicted, .importing, .reimport]
}
