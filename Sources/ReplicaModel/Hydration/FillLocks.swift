import Threads

/// Serializes the writes of fetched bytes into a file with its truncation and its completion: the store's bytes must
/// never overwrite what a program wrote afterwards.
///
/// The tree's lock is not suitable, because a write may wait for the disk. A file's lock is taken before the tree's.
struct FillLocks: Sendable {
    /// Files share these locks; a file that waits for another one waits only for the disk.
    private let locks = (0..<64).map { _ in Locked((), rank: .fill) }

    /// Runs `body` with the lock of the file that programs see under this number.
    func withLock<Result>(_ inodeNumber: ItemNumber, _ body: () throws(ReplicaError) -> Result) throws(ReplicaError)
        -> Result
    {
        try locks[Int(inodeNumber.rawValue % UInt64(locks.count))].withLock { (_) throws(ReplicaError) in try body() }
    }
}
