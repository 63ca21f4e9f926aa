package import Threads

/// A value that one thread at a time may touch, with its place in the order below.
package typealias Locked = Threads.Locked

/// The order in which a thread takes locks, here and in stores; ``LockRank/leaf`` and ``LockRank/innermost`` come last.
extension LockRank {
    /// What the database is to survive a power cut with: records, and so takes the next two.
    package static let durable = LockRank(rawValue: 0)
    /// The one writer of the database, which takes what changed from the tree.
    package static let recording = LockRank(rawValue: 1)
    /// An open file, while it is opened again because another content took its place.
    package static let openFile = LockRank(rawValue: 2)
    /// One file's bytes from the store, kept apart from what cuts the file.
    package static let fill = LockRank(rawValue: 3)
    /// Tree and nodes.
    package static let tree = LockRank(rawValue: 4)
    /// A store: events of its directory are taken in, by one thread at a time.
    package static let storeEvents = LockRank(rawValue: 5)
    /// A store: its whole tree is walked, by one thread at a time.
    package static let storeScan = LockRank(rawValue: 6)
    /// A store: what is known of its tree.
    package static let storeIndex = LockRank(rawValue: 7)
    /// A store: which process it runs in.
    package static let storeProcess = LockRank(rawValue: 8)
}
