import CLinux
import Glibc
import SystemPackage
import Testing
import Threads

@testable import FuseMount

/// A user who may rename in the folders above a mountpoint exchanges them as fast as possible. Each test has a process of
/// its own in its own mount namespace: what went wrong could unmount anything.
@Suite struct ExchangedMountTests {
    @Test func aMountFollowsNoLink() async {
        await #expect(processExitsWith: .exitCode(0)) { exit(Running { mountBesideLink() }.wait()) }
    }

    /// mount(2) of a path, as in containers without the calls that need none.
    @Test func aMountByMountFollowsNoLink() async {
        await #expect(processExitsWith: .exitCode(0)) {
            exit(Running { mountBesideLink(refusing: RefusedCalls([.moveMount, .openat2], EPERM)) }.wait())
        }
    }

    @Test func anUnmountRemovesNoOtherMount() async {
        await #expect(processExitsWith: .exitCode(0)) { exit(Running { unmountBesideOther(lazy: false) }.wait()) }
    }

    @Test func aLazyUnmountRemovesNoOtherMount() async {
        await #expect(processExitsWith: .exitCode(0)) { exit(Running { unmountBesideOther(lazy: true) }.wait()) }
    }

    @Test func aDeadMountMayBeRemovedBySomebodyElse() async {
        await #expect(processExitsWith: .exitCode(0)) { exit(Running { cleanBesideUnmounts() }.wait()) }
    }

    @Test func aDeadMountIsRemovedAndNoOther() async {
        await #expect(processExitsWith: .exitCode(0)) { exit(Running { cleanBesideOther() }.wait()) }
    }
}

/// Exchanges `/mnt/a` and `/mnt/b` until it is stopped.
private final class Exchange {
    private let isStopped = Locked(false)
    private var running: Running<Void>?

    init() {
        running = Running { [isStopped] in
            while !isStopped.withLock({ $0 }) { Self.once() }
        }
    }

    static func once() { _ = renameat2(AT_FDCWD, "/mnt/a", AT_FDCWD, "/mnt/b", UInt32(CL_RENAME_EXCHANGE)) }

    /// Stops, with the first of these folders at `/mnt/a`.
    func stop() {
        isStopped.withLock { $0 = true }
        running?.wait()
        if statError("/mnt/a/first") != 0 { Self.once() }
    }
}

/// The mountpoints in the namespace of this thread, which is not the process's, in order.
func mountpoints(_ type: String) -> [String] {
    (contents("/proc/thread-self/mounts") ?? "").split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        return words.count > 2 && words[2] == type ? String(words[1]) : nil
    }
}

/// Gives this thread a mount namespace with an empty `/mnt`, and runs a script in it.
func prepare(_ script: String) -> Bool {
    // Copies of mounts of other tests, which would not end before. Some are gone by now.
    let copies = "awk '$3 ~ /^fuse/ { print $2 }' /proc/self/mounts | xargs -r umount -lq; true"
    return unshare(CL_CLONE_NEWNS) == 0 && shell("mount --make-rprivate / && \(copies)") == 0
        && shell("mount -t tmpfs none /mnt && mkdir -p /mnt/a/point && touch /mnt/a/first && \(script)") == 0
}

/// 0, or the number of the check that failed.
private func mountBesideLink(refusing calls: RefusedCalls? = nil) -> Int32 {
    guard prepare("mkdir -p /mnt/victim/point && ln -s victim /mnt/b") else { return 101 }
    let before = contents("/proc/thread-self/mounts")
    if let calls, !calls.refuse() { return 107 }
    let exchange = Exchange()
    var (mounted, refused) = (0, 0)
    for _ in 0..<400 {
        do {
            let session = try Session(SyntheticFileSystem(), options: .test())
            do throws(MountError) {
                try session.mount(at: "/mnt/a/point")
                mounted += 1
            } catch {
                print(error)
                // The second if what is no directory is no link either by now.
                let reasons = ["a symbolic link is on the way", "Not a directory"]
                guard reasons.contains(where: error.description.contains) else { return 102 }
                refused += 1
            }
            guard !mountpoints("fuse.fusemounttest").contains("/mnt/victim/point") else { return 103 }
        } catch {
            return 104
        }
    }
    exchange.stop()
    guard mounted > 0, refused > 0 else { return 105 }
    // Each session has unmounted what it had mounted, and nothing else.
    return contents("/proc/thread-self/mounts") == before ? 0 : 106
}

private func unmountBesideOther(lazy: Bool) -> Int32 {
    guard prepare("mkdir -p /mnt/b/point && mount -t ramfs other /mnt/b/point") else { return 101 }
    for _ in 0..<400 {
        do {
            let session = try Session(SyntheticFileSystem(), options: .test())
            try session.mount(at: "/mnt/a/point")
            let exchange = Exchange()
            var isDone = false
            // Whatever hides it at that moment is in the way.
            for _ in 0..<100_000 where !isDone {
                do throws(Errno) {
                    try session.unmount(lazy: lazy)
                    isDone = true
                } catch {
                    guard error == .resourceBusy || error == .noSuchFileOrDirectory else { return 102 }
                }
            }
            exchange.stop()
            guard isDone else { return 103 }
        } catch {
            return 104
        }
        guard mountpoints("ramfs") == ["/mnt/b/point"], mountpoints("fuse.fusemounttest").isEmpty else { return 105 }
    }
    return 0
}

/// Puts a mount whose daemon is dead on the mountpoint.
private func mountDead() -> Bool {
    let options = "fd=9,rootmode=40000,user_id=0,group_id=0"
    return shell("exec 9<>/dev/fuse; mount -i -t fuse.dead -o \(options) dead /mnt/a/point") == 0
}

private func cleanBesideOther() -> Int32 {
    guard prepare("mkdir -p /mnt/b/point && mount -t ramfs other /mnt/b/point") else { return 101 }
    var mounts = 0
    for _ in 0..<200 {
        guard mountDead() else { return 102 }
        let exchange = Exchange()
        do {
            // On one of the two.
            try Session(SyntheticFileSystem(), options: .test()).mount(at: "/mnt/a/point")
            mounts += 1
        } catch {
            print("not mounted: \(error)")
        }
        exchange.stop()
        guard mountpoints("ramfs") == ["/mnt/b/point"] else { return 103 }
        guard mountpoints("fuse.fusemounttest").isEmpty else { return 104 }
        umount2("/mnt/a/point", Int32(MNT_DETACH))
    }
    // None, if a dead mount were never removed.
    return mounts > 0 ? 0 : 106
}

/// Somebody else unmounts the dead mount too, as fast as possible.
private func cleanBesideUnmounts() -> Int32 {
    guard prepare("true") else { return 101 }
    for _ in 0..<200 {
        guard mountDead() else { return 102 }
        let other = Running { umount2("/mnt/a/point", Int32(MNT_DETACH)) }
        do {
            try Session(SyntheticFileSystem(), options: .test()).mount(at: "/mnt/a/point")
        } catch {
            print("not mounted: \(error)")
            return 103
        }
        _ = other.wait()
        umount2("/mnt/a/point", Int32(MNT_DETACH))
    }
    return 0
}
