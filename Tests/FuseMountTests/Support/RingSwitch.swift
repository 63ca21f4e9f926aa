import Glibc
import SystemPackage
import Threads

/// The machine's switch for FUSE over io_uring. It concerns every mount, so that none of other tests is there while a test changes it.
enum RingSwitch {
    static let path = "/sys/module/fuse/parameters/enable_uring"

    private static let use = Gate((mounts: 0, isChanged: false))

    /// A mount for which the switch stays as it is. Its creation waits until no test changes the switch.
    final class Use: Sendable {
        init() { use.wait(until: { !$0.isChanged }, { $0.mounts += 1 }) }

        deinit { use.withLock { $0.mounts -= 1 } }
    }

    static func set(_ value: String) { _ = write(value, to: path, flags: O_WRONLY) }

    /// Runs `body`, which changes the switch, without mounts of other tests, and restores it.
    static func change(_ body: @Sendable () async throws -> Void) async throws {
        try await onOwnThread {
            use.wait(until: { $0.mounts == 0 && !$0.isChanged }, { $0.isChanged = true })
            defer { use.withLock { $0.isChanged = false } }
            guard let before = contents(path) else { throw Errno.noSuchFileOrDirectory }
            defer { set(before) }
            try await body()
        }
    }
}
