/// The engine's own state.
struct EngineState {
    var pulls = PullState()
    var deletions = DeletionState()
    var arrivals = ArrivalState()
    var rejected = RejectedItems()
    /// Changes that could not be applied.
    var postponed = Postponed()
    /// When failed items are retried before their own time.
    var earlyRetry = EarlyRetry()
    /// Why the user disconnected the domain; nil if it is connected.
    var disconnected: Disconnection?
    /// An error that concerns the whole domain, and when the store is tried again.
    var storeFailure: Failure?
    /// Whether the store reported that it is a different one, so that the user is asked.
    var isOtherStore: Bool {
        !pulls.isStoreRecognized && storeFailure?.code == RemoteStoreError.cannotSynchronize("").code
    }
    /// Whether nothing is known that keeps the store from returning what it has.
    var isStoreReadable: Bool { storeFailure?.leavesStoreReadable ?? true }
    /// An error in the reports of changes: local changes are still sent.
    var feedTrouble: Failure?
    /// How many callers wait for the store.
    var waiters = 0
    /// Whether the end of an import is still to be announced.
    var isImporting = false
    /// Reimports whose items are still being gathered.
    var reimports = 0

    /// The item in the store is invalid: it is requested again.
    /// - Parameter name: The displayed name.
    mutating func reject(_ identifier: ItemIdentifier, _ name: String) { rejected.reject(identifier, name) }

    /// The store reported the item in a valid state.
    mutating func accept(_ identifier: ItemIdentifier) {
        rejected.accept(identifier)
        postponed.remove(identifier)
    }
}

/// A disconnection that the user requested.
struct Disconnection {
    /// One line for the user.
    var reason: String
    /// Whether it ends with the next start.
    var isTemporary = false

    /// The reason, and when it ends if it ends by itself.
    var words: String { isTemporary ? "\(reason) (until the daemon is restarted)" : reason }
}

/// The state of the pulls of the store's changes.
struct PullState {
    var isWanted = true
    /// Whether the store is known to be the one of the last run.
    var isStoreRecognized = false
    /// Whether the store is another one or could not be reached when it was last asked; nil if it was not asked in this run.
    var isStoreInDoubt: Bool?
    /// When the store is asked again without a signal, in seconds since 1970.
    var next = 0.0
    /// The number of pulls, and the number of the last one that succeeded.
    var (begun, done) = (0, 0)
    /// How many calls were answered when the last pull that ended began.
    var lastAsked: UInt64 = 0
    /// How many callers wait for all that the store has.
    var pollers = 0
    /// Items that a call did not find, with the pull that has to report their state.
    var suspects: [ItemIdentifier: Int] = [:]
    /// Whether all calls of the last run are answered.
    var knowsOwnCalls = false
    /// Whether the user accepted the store's current content as this domain's.
    var takesOtherStore = false
    /// Since when all last batches were incomplete, in seconds since 1970; nil if the last one was not.
    private var incompleteSince: Double?

    /// For how many seconds an incomplete batch does not end a pull. A change that the store can't describe for so long is reported when it can.
    private static let longestIncomplete = 30.0

    /// Whether a pull ends with a batch that announces no other.
    /// - Parameter isIncomplete: Whether it or another batch of the pull is incomplete.
    mutating func isLast(isIncomplete: Bool, at now: Double) -> Bool {
        incompleteSince = isIncomplete ? incompleteSince ?? now : nil
        return incompleteSince.map { now - $0 >= Self.longestIncomplete } ?? true
    }

    /// A pull has failed.
    mutating func fail() { incompleteSince = nil }

    /// - Returns: The number of the pull that begins.
    mutating func begin() -> Int {
        isWanted = false
        begun += 1
        return begun
    }

    /// A call did not find the item.
    /// - Returns: Whether a pull since then confirms that it is gone; otherwise the next one will have to.
    mutating func suspect(_ identifier: ItemIdentifier) -> Bool {
        if let pull = suspects[identifier], done >= pull {
            suspects[identifier] = nil
            return true
        }
        if suspects[identifier] == nil { suspects[identifier] = begun + 1 }
        isWanted = true
        return false
    }
}

/// The store's recent deletions.
struct DeletionState {
    /// The deletions that are decided together.
    var window: DeletionWindow?
    /// Deletions that wait for the user.
    var held = 0
    /// Whether the user approved these, and they are not applied yet.
    var isApproved = false
    /// When the deletions are checked again, in seconds since 1970.
    var nextCheck: Double?
}

/// Newer content of complete files, until it is moved into place.
struct ArrivalState {
    /// Files whose newer content is being fetched.
    var updating: Set<ItemIdentifier> = []
    /// Fetched content.
    var staged: [ItemIdentifier: StagedContent] = [:]
    /// Results of content comparisons, until they are applied.
    var compared: [ItemIdentifier: ComparedContent] = [:]
    private var lastStaged = 0

    /// A number for a file in staging.
    mutating func nextStaged() -> Int {
        lastStaged += 1
        return lastStaged
    }
}

/// Items of the store that can't exist here.
struct RejectedItems {
    /// Items whose state in the store is invalid, with the names given there: each is requested again.
    private(set) var invalid: [ItemIdentifier: String] = [:]
    /// Names that can't be used here, and other changes that could not be applied.
    var refused: Set<String> = []

    /// How many of each are remembered.
    private static let most = 1_000

    mutating func reject(_ identifier: ItemIdentifier, _ name: String) {
        if identifier.fault == nil, invalid.count < Self.most {
            invalid[identifier] = name
        } else if refused.count < Self.most {
            refused.insert(name)
        }
    }

    mutating func accept(_ identifier: ItemIdentifier) { invalid[identifier] = nil }
}
