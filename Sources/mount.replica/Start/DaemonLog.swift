import CLinux
import Glibc
import ReplicaControl
import Synchronization
import SystemPackage

/// A daemon's log, `daemon.log` in its domain's state. It follows the name: whoever moves the file away, as logrotate(8) does,
/// finds the next line in a new one. Lines of several threads, and of several processes, may be written at the same time.
final class DaemonLog: Sendable {
    /// A file with this many bytes becomes `daemon.log.1` instead of the one before, so a log takes at most about twice as many.
    static let mostBytes = 10 << 20

    private let path: FilePath
    private var previous: FilePath { path.removingLastComponent().appending(StateFileName.previousLog.rawValue) }
    /// The descriptors that lines are written to. Their numbers never change, only the file that they refer to.
    let descriptors: [Int32]
    /// One thread at a time checks the file; the others meanwhile write to the descriptors as they are.
    private let isBusy = Atomic(false)

    /// - Parameter descriptors: Of the file that ``open(_:)`` returned, or of another that is replaced as soon as this can be
    ///   opened. They are never closed.
    init(_ path: FilePath, _ descriptors: [Int32]) {
        (self.path, self.descriptors) = (path, descriptors)
    }

    /// Opens a log to append to it; -1 if that fails. What has its name but is not a file of this user's alone is never written to:
    /// a link is removed, and a new file is made.
    static func open(_ path: FilePath) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = Glibc.open(path.string, flags, 0o600)
        if descriptor >= 0 {
            var status = stat()
            let isOwn = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
            if isOwn, status.st_uid == geteuid() { return descriptor }
            close(descriptor)
        } else if ![ELOOP, ENXIO].contains(errno) {
            return -1
        }
        guard unlink(path.string) == 0 else { return -1 }
        let fresh = Glibc.open(path.string, flags | O_EXCL, 0o600)
        let note = Array("mount.replica: another file or a link had the name of this log, and was removed\n".utf8)
        if fresh >= 0 { _ = note.withUnsafeBytes { Glibc.write(fresh, $0.baseAddress, $0.count) } }
        return fresh
    }

    /// Called before each line: opens the file that has the name now, if it is another one or none, or if the present one is full.
    func follow() {
        guard let descriptor = descriptors.first,
            isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
        else { return }
        defer { isBusy.store(false, ordering: .releasing) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        if hasName(status) {
            guard status.st_size >= Self.mostBytes, isMovedAway(descriptor, status) else { return }
        }
        let fresh = Self.open(path)
        guard fresh >= 0 else { return }
        // Standard output and error are inherited by programs that are started, as before.
        for descriptor in descriptors { cl_dup3(fresh, descriptor, descriptor > 2 ? O_CLOEXEC : 0) }
        close(fresh)
    }

    /// Whether a file is the one that the name leads to.
    private func hasName(_ file: stat) -> Bool {
        var named = stat()
        return lstat(path.string, &named) == 0 && (named.st_dev, named.st_ino) == (file.st_dev, file.st_ino)
    }

    /// Renames the full file. Of two processes with the same log, the second would rename what the first one has just begun, so it
    /// looks again when it has the lock.
    private func isMovedAway(_ descriptor: Int32, _ file: stat) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        defer { flock(descriptor, LOCK_UN) }
        return !hasName(file) || rename(path.string, previous.string) == 0
    }
}
