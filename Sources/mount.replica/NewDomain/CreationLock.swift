import Glibc
import ReplicaControl
import SystemPackage

/// Held while a domain is created, from the last check of its places to its record: otherwise two processes could create domains
/// that overlap, each before the other's can be seen. It locks the domains' directory itself (flock), so nothing is left behind.
enum CreationLock {
    private static let pauseMicroseconds: UInt32 = 20_000

    /// Runs `body` while no other process creates a domain in a directory.
    /// - Parameters:
    ///   - root: The domains' directory.
    ///   - limit: How long to wait.
    ///   - make: Creates the directory if it is not there. With a failed creation, another process may remove its own.
    /// - Throws: `busy` after the limit.
    static func withLock<Value>(
        _ root: FilePath, limit: Duration, make: () throws -> Void, _ body: () throws -> Value
    ) throws -> Value {
        let end = ContinuousClock.now + limit
        while true {
            try make()
            if let folder = try held(root) {
                defer { close(folder) }
                return try body()
            }
            guard ContinuousClock.now < end else {
                throw ControlFailure(.busy, "another process is creating a domain in \(root): try again")
            }
            usleep(pauseMicroseconds)
        }
    }

    /// The locked directory, or nil if another process has locked it, or it was replaced.
    private static func held(_ root: FilePath) throws -> Int32? {
        let folder = open(root.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            if errno == ENOENT { return nil }
            throw ControlFailure(.failed, "\(root): \(Errno(rawValue: errno))")
        }
        var (locked, there) = (stat(), stat())
        let isOurs =
            flock(folder, LOCK_EX | LOCK_NB) == 0 && fstat(folder, &locked) == 0 && stat(root.string, &there) == 0
            && locked.st_dev == there.st_dev && locked.st_ino == there.st_ino
        if isOurs { return folder }
        close(folder)
        return nil
    }
}
