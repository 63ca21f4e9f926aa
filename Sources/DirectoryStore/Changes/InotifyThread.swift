import Glibc
import ReplicaModel
import Threads

/// The thread that processes incoming events and signals changes.
enum InotifyThread {
    /// How long events are collected, so that they are processed together.
    private static let gatheringMicroseconds: UInt32 = 20_000
    /// How often a missing root is checked, and how often a feed that can't report everything requests a listing.
    private static let rootPeriodMilliseconds: Int32 = 1_000
    private static let listingPeriodMilliseconds: Int32 = 60_000

    /// Starts the thread; it exits once `isStopped` is set and the tree's watches are woken.
    static func start(_ tree: DirectoryTree, isStopped: Locked<Bool>) {
        let isStarted = Thread.run {
            var anchor = tree.index.withLock { $0.log.anchor }
            var nextListing = tree.relistInterval.map { ContinuousClock.now + $0.interval }
            while !isStopped.withLock({ $0 }) {
                let isBlind = tree.watches.cannotWatchAll
                tree.watches.wait(milliseconds: waitMilliseconds(tree, isBlind: isBlind, nextListing))
                if isStopped.withLock({ $0 }) { return }
                usleep(gatheringMicroseconds)
                // The root is gone: the next round checks for it again.
                _ = try? tree.drain()
                tree.marks.withLock { $0.dropIdle() }
                if let interval = tree.relistInterval, let due = nextListing, due <= .now {
                    nextListing = .now + interval.pause(after: tree.askForListing())
                }
                let present = tree.index.withLock { $0.log.anchor }
                if present != anchor || isBlind { tree.listeners.signal() }
                anchor = present
            }
        }
        precondition(isStarted, "the thread can't be created")
    }

    /// How long there is nothing to do unless an event arrives; -1 means for ever.
    private static func waitMilliseconds(
        _ tree: DirectoryTree, isBlind: Bool, _ nextListing: ContinuousClock.Instant?
    ) -> Int32 {
        if tree.root.isLost { return rootPeriodMilliseconds }
        let isOpen = tree.index.withLock { !$0.orphans.isEmpty || !$0.unsettled.isEmpty }
        if isOpen { return Int32(100) }
        guard let nextListing else { return isBlind ? listingPeriodMilliseconds : -1 }
        let left = Int32(clamping: Int64(max(0, (nextListing - .now) / .milliseconds(1)))) + 1
        return isBlind ? min(left, listingPeriodMilliseconds) : left
    }
}

extension DirectoryTree {
    /// Makes the next request for changes list everything.
    /// - Returns: The duration of the listings since the last call.
    fileprivate func askForListing() -> Duration {
        index.withLock { $0.log.expire() }
        return listingTime.withLock { time in
            defer { time = .zero }
            return time
        }
    }
}
