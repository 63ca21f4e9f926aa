import ReplicaModel
import Threads

extension MemoryStore {
    /// The complete state of the store at one moment.
    public struct Moment: Sendable {
        fileprivate var tree: MemoryTree
    }

    public var moment: Moment { tree.withLock { Moment(tree: $0) } }

    /// Returns to that state, as after a power cut of its disk. Later anchors are unknown; no version or identifier is
    /// reused.
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
