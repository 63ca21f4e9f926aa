import Glibc
import ReplicaControl
import SystemPackage

/// Held while a domain is created, from the last check of its places to its record: otherwise two processes could create domains
/// that overlap, each before the other's can be seen. It locks the domains' directory itself (flock), so nothing is left behind.
enum CreationLock {
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
        repeat {
            try make()
            if let folder = try held(root, until: end) {
                defer { close(folder) }
                return try body()
            }
            usleep(pauseMicroseconds)
        } while ContinuousClock.now < end
        throw ControlFailure(.busy, "another process is creating a domain in \(root): try again")
    }

    private static let pauseMicroseconds: UInt32 = 20_000

    /// The locked directory, or nil if another process has kept it locked for a second, or it was replaced.
    private static func held(_ root: FilePath, until end: ContinuousClock.Instant) throws -> Int32? {
        let end = min(end, .now + .seconds(1))
        let folder = open(root.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            if errno == ENOENT { return nil }
            throw ControlFailure(.failed, "\(root): \(Errno(rawValue: errno))")
        }
        do {
            if try TimeLimitedFlock.take(folder, LOCK_EX, until: end), try leads(root, to: folder) { return folder }
        } catch {
            close(folder)
            throw ControlFailure(.failed, "\(root): \(error)")
        }
        close(folder)
        return nil
    }

    private static func leads(_ path: FilePath, to folder: Int32) throws(Errno) -> Bool {
        var (locked, there) = (stat(), stat())
        guard fstat(folder, &locked) == 0 else { throw Errno(rawValue: errno) }
        // A directory that can't be examined counts as another one.
        return stat(path.string, &there) == 0 && (locked.st_dev, locked.st_ino) == (there.st_dev, there.st_ino)
    }
}
