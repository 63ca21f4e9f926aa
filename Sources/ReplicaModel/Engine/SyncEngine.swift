internal import Logging
internal import SystemPackage
internal import Threads

/// Keeps tree and store in sync: one loop receives the store's changes, another sends the tree's. Large: the state that
/// the loops share; each source folder has the methods of its flow.
final class SyncEngine: Sendable {
    let replica: Replica
    let store: any RemoteStore
    let options: DomainOptions
    let log: Logger
    let state = Locked(EngineState())
    let uploadQueue = Locked(UploadQueue())
    let fetches = Locked(FetchTable())
    let uncached = Locked(UncachedWindows())
    let freeSpace = Locked(FreeSpace())
    let limits: Locked<CacheLimits>
    let knownUsage = Locked(KnownUsage())
    let usageRequests = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// Set when the domain stops; blocking work then ends.
    let isStopping = Locked(false)
    let background = BackgroundTasks()
    /// Why the tree can't be compared with the database.
    let scanFailure = Locked<String?>(nil)
    let statistics = Locked(TransferStatistics())
    let listings = Locked<[ItemNumber: Task<ListingFailure?, Never>]>([:])
    let snapshots: SnapshotFiles
    let wakeSignal: WakeSignal
    let pause: StorePause
    let callTimeouts: CallTimeouts
    let random: @Sendable () -> Double

    init(
        replica: Replica, store: any RemoteStore, options: DomainOptions, wakeSignal: WakeSignal, log: Logger,
        snapshots: SnapshotFiles? = nil, random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.replica = replica
        let pause = StorePause(now: { replica.now() })
        self.pause = pause
        let callTimeouts = CallTimeouts(
            answer: options.answerTimeoutSeconds, stall: options.stallTimeoutSeconds, now: { replica.clock.awake() })
        self.callTimeouts = callTimeouts
        // A simulator's calls always end, in its own order.
        let watched: any RemoteStore =
            options.isSequential ? store : TimeLimitedStore(store: store, callTimeouts: callTimeouts)
        let paused = PausedStore(
            store: watched, pause: pause, longestPauseSeconds: options.isSequential ? 0 : Self.longestPauseSeconds)
        self.store = CheckedStore(store: paused, privileges: options.privileges) { [state] item in
            let name = item.name.shortened
            log.warning(
                "an invalid item of the store is skipped", metadata: ["name": "\(name)", "why": "\(item.fault)"])
            state.withLock { $0.reject(item.identifier, name) }
        }
        self.options = options
        limits = Locked(CacheLimits(options))
        self.snapshots = snapshots ?? SnapshotFiles(in: replica.folders.staging)
        self.wakeSignal = wakeSignal
        self.log = log
        self.random = random
    }

    /// How long a reader waits for the end of a pause that the store requested, in seconds.
    private static let longestPauseSeconds = 10.0

    /// Runs until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.runReceiving() }
            group.addTask { await self.runSending() }
            group.addTask { await self.runPinning() }
            group.addTask { await self.runUsage() }
            group.addTask {
                for await _ in self.store.signals() {
                    self.state.withLock { state in
                        state.pulls.isWanted = true
                        state.earlyRetry.isSignalled = true
                    }
                    self.wakeSignal.signal()
                }
            }
            for await _ in group {}
        }
    }

    /// The pause before each round of a loop.
    private func restBeforeRound() async { await rest(0.02, atMost: 0.2) }

    /// Yields to programs that make one change after the other: sleeps until they pause.
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
            let left = pause.left
            let end = min(left > 0 ? replica.now() + left : .infinity, replica.recordingRest ?? .infinity)
            let next = state.withLock {
                min($0.pulls.next, $0.postponed.next ?? .infinity, $0.deletions.nextCheck ?? .infinity, end)
            }
            await wakeSignal.wait(since: mark, until: next, now: replica.now)
            BackgroundPriority.take()
            await restBeforeRound()
        }
    }

    private func runSending() async {
        while !Task.isCancelled {
            BackgroundPriority.take()
            let mark = wakeSignal.mark
            let next = await send()
            await wakeSignal.wait(since: mark, until: next, now: replica.now)
            BackgroundPriority.take()
            await restBeforeRound()
        }
    }
}
