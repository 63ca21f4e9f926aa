internal import CFuse
internal import Glibc

/// Packs the entries of a `readdir` or `readdirplus` answer.
public struct DirectoryBuffer: ~Copyable {
    let base: UnsafeMutablePointer<CChar>
    let capacity: Int
    /// Bytes packed so far.
    public private(set) var count = 0

    /// - Parameter capacity: the size given in the request, in bytes.
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
    ///   - name: the entry's name.
    ///   - ino: its inode number.
    ///   - mode: only the type bits are used.
    ///   - next: the offset at which to continue after this entry; any value but 0.
    /// - Returns: false if the buffer is full: the entry was not added, send the answer now.
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

    /// Adds an entry for `readdirplus`. An added entry counts as a lookup, unless its node is 0 (as for `.` and `..`).
    /// - Returns: false if the buffer is full: the entry was not added and does not count.
    public mutating func add(name: UnsafePointer<CChar>, entry: Entry, next: Int64) -> Bool {
        var parameters = entry.parameters
        let room = capacity - count
        let needed = fuse_add_direntry_plus(nil, base + count, room, name, &parameters, Int(next))
        guard needed <= room else { return false }
        count += needed
        return true
    }
}
