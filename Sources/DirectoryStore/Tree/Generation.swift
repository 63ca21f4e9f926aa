import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// A number on the store's directory that only grows: if it is lower than before, the directory was put back to an older
/// state, by a snapshot or a backup. Zero if it has none.
///
/// Everybody with access to the directory can change it. That only causes a question, or suppresses one.
struct Generation: Comparable {
    private static let attribute = "user.replica.generation"
    private let number: UInt64

    init(number: UInt64) { self.number = number }

    init(of directory: Handle) throws(Errno) {
        let readable = try Linux.open(FileName("."), in: directory, O_RDONLY | O_DIRECTORY)
        let value = try Linux.attribute(Self.attribute, of: readable)
        number = value.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    /// Has the directory count on, and writes that to the disk: whoever knows the number must find it again after a power cut. One process
    /// at a time, so that nobody writes a lower one than another has by then.
    /// - Parameter known: What it was at least. An older state is left as it is.
    /// - Returns: The new number; nil if it stays.
    static func increment(of directory: Handle, known: Generation) throws(Errno) -> Generation? {
        let readable = try Linux.open(FileName("."), in: directory, O_RDONLY | O_DIRECTORY)
        try Linux.check { flock(readable.raw, LOCK_EX | LOCK_NB) }
        let found = try Generation(of: directory)
        guard found >= known, found.number < .max else { return nil }
        let next = Generation(number: found.number + 1)
        try Linux.setAttribute(Self.attribute, Array(String(next.number).utf8), of: readable)
        try Linux.check { fsync(readable.raw) }
        return next
    }

    /// Has the number that a directory has now survive a power cut, where the disk can be written.
    static func sync(_ directory: Handle) throws(Errno) {
        let readable = try Linux.open(FileName("."), in: directory, O_RDONLY | O_DIRECTORY)
        do throws(Errno) { try Linux.check { fsync(readable.raw) } } catch {
            guard error == .readOnlyFileSystem || error == .invalidArgument else { throw error }
        }
    }

    static func < (one: Generation, other: Generation) -> Bool { one.number < other.number }
}

extension Generation: CustomStringConvertible {
    var description: String { String(number) }
}

/// When the directory counts on: at the first anchor of a run, and then every ten minutes if anything changed.
final class GenerationRenewals: Sendable {
    private struct Last {
        var anchor: SyncAnchor
        var time: ContinuousClock.Instant
    }

    private static let period = Duration.seconds(600)
    private let last = Locked<Last?>(nil)

    /// Whether it is time, which begins the next period.
    /// - Parameter anchor: The present end of the log of changes.
    func isDue(at anchor: SyncAnchor, now: ContinuousClock.Instant = .now) -> Bool {
        last.withLock {
            if let last = $0, last.anchor == anchor || now - last.time < Self.period { return false }
            $0 = Last(anchor: anchor, time: now)
            return true
        }
    }
}
