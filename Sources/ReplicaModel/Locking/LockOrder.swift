package import Threads

/// A value that one thread at a time may access, with its place in the order below.
package typealias Locked = Threads.Locked

/// The order in which a thread takes locks, here and in stores; ``LockRank/leaf`` and ``LockRank/innermost`` come last.
extension LockRank {
    /// Makes the database durable: it records, and so takes the next two.
    package static let durable = LockRank(rawValue: 0)
    /// The single writer of the database, which takes the changes from the tree.
    package static let recording = LockRank(rawValue: 1)
    /// An open file, while it is reopened because its content was replaced.
    package static let openFile = LockRank(rawValue: 2)
    /// Writes of one file's fetched bytes, which exclude truncation.
    package static let fill = LockRank(rawValue: 3)
    /// Tree and nodes.
    package static let tree = LockRank(rawValue: 4)
    /// A store: one thread at a time handles the events of its directory.
    package static let storeEvents = LockRank(rawValue: 5)
    /// A store: one thread at a time walks its whole tree.
    package static let storeScan = LockRank(rawValue: 6)
    /// A store: the index of its tree.
    package static let storeIndex = LockRank(rawValue: 7)
    /// A store: its current process.
    package static let storeProcess = LockRank(rawValue: 8)
}
