internal import CFuse
internal import Glibc

/// Packs the entries of one `readdir` or `readdirplus` answer as the kernel wants them.
public struct DirectoryBuffer: ~Copyable {
    let base: UnsafeMutablePointer<CChar>
    let capacity: Int
    /// Bytes packed so far.
    public private(set) var count = 0

    /// - Parameter capacity: the size that the request names, in bytes.
    public init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deallocate()
    }

    public var isEmpty: Bool { count == 0 }

    /// Adds an entry for `readdir`.
    /// - Parameters:
    ///   - mode: only the type bits count.
    ///   - next: the offset that continues behind this entry; any value but 0.
    /// - Returns: false when there is no more room: the entry is not in, answer now.
    public mutating func add(name: UnsafePointer<CChar>, ino: UInt64, mode: UInt32, next: Int64) -> Bool {
        var status = Glibc.stat()
        status.st_ino = UInt(ino)
        status.st_mode = mode
        let room = capacity - count
        let needed = fuse_add_direntry(nil, base + count, room, name, &status, Int(next))
        guard needed <= room else { return false }
        count += needed
        return true
    }

    /// Adds an entry for `readdirplus`. One that is in counts as a lookup, unless its node is 0 (as `.` and `..` are).
    /// - Returns: false when there is no more room: the entry is not in and doesn't count.
    public mutating func add(name: UnsafePointer<CChar>, entry: Entry, next: Int64) -> Bool {
        var parameters = entry.parameters
        let room = capacity - count
        let needed = fuse_add_direntry_plus(nil, base + count, room, name, &parameters, Int(next))
        guard needed <= room else { return false }
        count += needed
        return true
    }
}
