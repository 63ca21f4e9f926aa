internal import Logging
internal import SystemPackage
internal import Threads

/// Keeps tree and store in step: one loop takes the store's changes in, another sends the tree's.
final class SyncEngine: Sendable {
    let replica: Replica
    let store: any RemoteStore
    let options: DomainOptions
    let log: Logger
    let state = Locked(EngineState())
    let uploadQueue = Locked(UploadQueue())
    let fetches = Locked(FetchTable())
    let passing = Locked(PassingWindows())
    let freeSpace = Locked(FreeSpace())
    /// Set when the domain stops: work that blocks ends then.
    let isStopping = Locked(false)
    let statistics = Locked(TransferStatistics())
    let listings = Locked<[ItemNumber: Task<ListingFailure?, Never>]>([:])
    let snapshots: SnapshotFiles
    let wakeSignal: WakeSignal
    let random: @Sendable () -> Double

    init(
        replica: Replica, store: any RemoteStore, options: DomainOptions, wakeSignal: WakeSignal, log: Logger,
        snapshots: SnapshotFiles? = nil, random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.replica = replica
        self.store = CheckedStore(store: store, privileges: options.privileges) { [state] item in
            let name = item.name.shortened
            log.warning("an item of the store is left out", metadata: ["name": "\(name)", "why": "\(item.fault)"])
            state.withLock { $0.leaveOut(item.identifier, name) }
        }
        self.options = options
        self.snapshots = snapshots ?? SnapshotFiles(in: replica.folders.staging)
        self.wakeSignal = wakeSignal
        self.log = log
        self.random = random
    }

    /// Runs until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.runReceiving() }
            group.addTask { await self.runSending() }
            group.addTask { await self.runPinning() }
            group.addTask {
                for await _ in self.store.signals() {
                    self.state.withLock { state in
                        state.isPullWanted = true
                        state.retrial.isSignalled = true
                    }
                    self.wakeSignal.signal()
                }
            }
            for await _ in group {}
        }
    }

    /// Before each look of a loop.
    private func restBeforeLook() async { await rest(0.02, atMost: 0.2) }

    /// Lets programs go first that change one thing after the other: sleeps until they pause.
    /// - Parameters:
    ///   - shortest: Sleeps for so long in any case, in seconds.
    ///   - longest: Sleeps no longer than that.
    func rest(_ shortest: Double, atMost longest: Double) async {
        var (sleep, slept) = (shortest, 0.0)
        repeat {
            try? await Task.sleep(for: .seconds(sleep))  // Cancelled only at the end.
            slept += sleep
            sleep = min(0.05, longest - slept)
        } while sleep > 0 && isStream(sinceEdit: replica.sinceEdit) && !Task.isCancelled
    }

    private func runReceiving() async {
        while !Task.isCancelled {
            BackgroundPriority.take()
            let mark = wakeSignal.mark
            await receive()
            let next = state.withLock {
                min($0.nextPull, $0.postponed.next ?? .infinity, $0.nextDeletionLook ?? .infinity)
            }
            await wakeSignal.wait(since: mark, until: next, now: replica.now)
            BackgroundPriority.take()
            await restBeforeLook()
        }
    }

    private func runSending() async {
        while !Task.isCancelled {
            BackgroundPriority.take()
            let mark = wakeSignal.mark
            let next = await send()
            await wakeSignal.wait(since: mark, until: next, now: replica.now)
            BackgroundPriority.take()
            await restBeforeLook()
        }
    }
}

/// That a person wants nothing to be exchanged with the store.
struct Disconnection {
    /// One line for people.
    var reason: String
    /// Whether it ends with the next start.
    var isTemporary = false

    /// The reason, and when it ends where that comes by itself.
    var words: String { isTemporary ? "\(reason) (until the daemon is restarted)" : reason }
}

/// What the engine knows beside the replica.
struct EngineState {
    var isPullWanted = true
    /// Whether no call of the last run is without an answer.
    var knowsOwnCalls = false
    /// How many times the store was asked for its changes, and the last of these that succeeded.
    var pullsBegun = 0
    var pullsDone = 0
    /// How many calls were answered when the last pull that ended began.
    var lastAsked: UInt64 = 0
    /// Items that a call did not find, with the pull that has to say what became of them.
    var suspects: [ItemIdentifier: Int] = [:]
    /// When the store is asked again without a signal, in seconds since 1970.
    var nextPull = 0.0
    /// Why nothing is exchanged with the store, by a person's will.
    var disconnected: Disconnection?
    /// Trouble of the whole domain, and when it is looked at again.
    var storeFailure: Failure?
    /// What the store deleted lately.
    var window: DeletionWindow?
    /// Deletions that wait for a person.
    var heldDeletions = 0
    /// Whether a person said that these may go, and nothing has come of it yet.
    var isApproved = false
    /// When the deletions are looked at again, in seconds since 1970.
    var nextDeletionLook: Double?
    /// Whether a person said that what the store has now is to be taken for its content.
    var takesOtherStore = false
    /// Items that the store told of in a way that cannot be, by the names it gave: each is asked for again.
    private(set) var leftOut: [ItemIdentifier: String] = [:]
    /// Trouble of the answers about changes: what is here is sent all the same.
    var feedTrouble: Failure?
    /// Changes that could not be taken in.
    var postponed = Postponed()
    /// When what failed is tried again before its own time.
    var retrial = Retrial()
    /// How many wait for the store.
    var waiters = 0
    /// Names of the store that cannot stand here, and other changes that could not be applied.
    var refused: Set<String> = []
    /// Whether the end of an import is still to be told.
    var isImporting = false
    /// Reimports whose items are still being gathered.
    var reimports = 0
    /// Whole files whose newer content is on its way.
    var updating: Set<ItemIdentifier> = []
    /// Newer content that is here and not in its place yet.
    var staged: [ItemIdentifier: StagedContent] = [:]
    /// Whole files that were compared with the store's of the same content version, until that is applied.
    var compared: [ItemIdentifier: ComparedContent] = [:]
    private var lastStaged = 0

    /// How many items are asked for again that cannot be what they are said to be.
    private static let mostLeftOut = 1_000

    /// - Parameter name: As it is shown.
    mutating func leaveOut(_ identifier: ItemIdentifier, _ name: String) {
        if identifier.fault == nil, leftOut.count < Self.mostLeftOut {
            leftOut[identifier] = name
        } else if refused.count < Self.mostLeftOut {
            refused.insert(name)
        }
    }

    /// The store told of the item in another way.
    mutating func takeIn(_ identifier: ItemIdentifier) {
        leftOut[identifier] = nil
        postponed.remove(identifier)
    }

    /// A number for a file in staging.
    mutating func nextStaged() -> Int {
        lastStaged += 1
        return lastStaged
    }
}
