import FuseMount
import Glibc
import ReplicaFileSystem
import SystemPackage
import Testing

/// A session that runs until the test ends it.
final class RunningMount: Sendable {
    private let session: Session
    private let ended = Flag()

    init(_ fileSystem: DomainFileSystem, at path: String) throws {
        var options = MountOptions(fsName: "replica-test", subtype: "replica")
        options.allowOther = true
        options.extra = ["dev", "suid"]
        session = try Session(fileSystem, options: options)
        try session.mount(at: path)
        startThread { [session, ended] in
            do {
                try session.run()
            } catch {
                Issue.record("the session ended with \(error)")
            }
            ended.raise()
        }
    }

    /// Unmounts, also when something is still open there.
    func end() throws {
        do throws(Errno) {
            try session.unmount()
        } catch {
            try session.unmount(lazy: true)
        }
        ended.wait()
    }
}

/// A condition that comes true once.
final class Flag: @unchecked Sendable {  // The semaphore does all.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func raise() { sem_post(semaphore) }
    func wait() {
        while sem_wait(semaphore) != 0 {}
        sem_post(semaphore)
    }
}
