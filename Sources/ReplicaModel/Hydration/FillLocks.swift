import Threads

/// Keeps what writes fetched bytes into a file apart from what cuts it, or says that it is whole: bytes of the store
/// must never go over what a program wrote after that.
///
/// The tree's lock is too short for it: the disk may have a write wait. A file's lock is taken before the tree's.
struct FillLocks: Sendable {
    /// Files share them; a file that waits for another's only waits for the disk.
    private let locks = (0..<64).map { _ in Locked((), rank: .fill) }

    /// Runs `body` while nobody else has the lock of the file that programs see under this number.
    func withLock<Result>(_ inodeNumber: ItemNumber, _ body: () throws(ReplicaError) -> Result) throws(ReplicaError)
        -> Result
    {
        try locks[Int(inodeNumber.rawValue % UInt64(locks.count))].withLock { (_) throws(ReplicaError) in try body() }
    }
}
