import ReplicaModel
import Threads

extension MemoryStore {
    /// All that the store has at one moment.
    public struct Moment: Sendable {
        fileprivate var tree: MemoryTree
    }

    public var moment: Moment { tree.withLock { Moment(tree: $0) } }

    /// Has what it had then, as after a power cut of its disk. Anchors of since then are unknown; no version or identifier comes
    /// twice.
    public func goBack(to moment: Moment) {
        tree.withLock { tree in
            var former = moment.tree
            former.counter = tree.counter
            former.contentHistory.formUnion(tree.contentHistory)
            former.contentVersions.merge(tree.contentVersions) { $1 }
            former.feed = tree.feed
            former.feed.expire()
            tree = former
        }
    }
}
