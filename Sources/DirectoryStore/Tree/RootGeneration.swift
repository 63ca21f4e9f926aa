import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// A number on the store's directory that only increases: a lower number than before means that the directory was reset
/// to an older state, by a snapshot or a backup. Zero if the directory has no number.
///
/// Every user with access to the directory can change it. That only triggers a question to the user, or suppresses one.
struct RootGeneration: Comparable {
    private static let attribute = "user.replica.generation"
    private let number: UInt64

    init(number: UInt64) { self.number = number }

    init(of directory: OpenDescriptor) throws(Errno) {
        let readable = try SystemCalls.open(FileName("."), in: directory, O_RDONLY | O_DIRECTORY)
        let value = try SystemCalls.attribute(Self.attribute, of: readable)
        number = value.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    /// Increments the number and syncs it to the disk: a number that was reported must survive a power cut. Only one
    /// process at a time does it, so that none writes a lower number than another has already written.
    /// - Parameter known: The minimum of the previous number. An older state is not modified.
    /// - Returns: The new number; nil if it was not changed.
    static func increment(of directory: OpenDescriptor, known: RootGeneration) throws(Errno) -> RootGeneration? {
        let readable = try SystemCalls.open(FileName("."), in: directory, O_RDONLY | O_DIRECTORY)
        try SystemCalls.check { flock(readable.raw, LOCK_EX | LOCK_NB) }
        let found = try RootGeneration(of: directory)
        guard found >= known, found.number < .max else { return nil }
        let next = RootGeneration(number: found.number + 1)
        try SystemCalls.setAttribute(Self.attribute, Array(String(next.number).utf8), of: readable)
        try SystemCalls.check { fsync(readable.raw) }
        return next
    }

    /// Makes the directory's current number survive a power cut, if the disk is writable.
    static func sync(_ directory: OpenDescriptor) throws(Errno) {
        let readable = try SystemCalls.open(FileName("."), in: directory, O_RDONLY | O_DIRECTORY)
        do throws(Errno) { try SystemCalls.check { fsync(readable.raw) } } catch {
            guard error == .readOnlyFileSystem || error == .invalidArgument else { throw error }
        }
    }

    static func < (one: RootGeneration, other: RootGeneration) -> Bool { one.number < other.number }
}

extension RootGeneration: CustomStringConvertible {
    var description: String { String(number) }
}

/// Decides when the generation is incremented: at the first anchor of a run, and then every ten minutes if anything
/// changed.
final class GenerationRenewals: Sendable {
    private struct Last {
        var anchor: SyncAnchor
        var time: ContinuousClock.Instant
    }

    private static let period = Duration.seconds(600)
    private let last = Locked<Last?>(nil)

    /// Whether an increment is due; if so, starts the next period.
    /// - Parameter anchor: The current end of the change log.
    func isDue(at anchor: SyncAnchor, now: ContinuousClock.Instant = .now) -> Bool {
        last.withLock {
            if let last = $0, last.anchor == anchor || now - last.time < Self.period { return false }
            $0 = Last(anchor: anchor, time: now)
            return true
        }
    }
}
