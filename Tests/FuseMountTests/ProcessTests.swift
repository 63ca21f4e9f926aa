import CLinux
import Glibc
import Testing
import Threads

@testable import FuseMount

/// What needs a process of its own: other users, forks.
@Suite struct ProcessTests {
    /// Serves a mount as user `nobody`, in a mount namespace where all users may open /dev/fuse.
    @Test func unprivilegedMount() async {
        await #expect(processExitsWith: .exitCode(0)) {
            exit(Running { unprivilegedRound() }.wait())
        }
    }

    @Test func terminationSignalsAreHandled() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // The forked process has no other threads that could take the signal. ThreadSanitizer needs
            // TSAN_OPTIONS=die_after_fork=0 for it.
            // A fork may find a lock of the Swift runtime held for ever: then another one is made.
            for _ in 0..<5 {
                let child = forkedProcess()
                if child == 0 {
                    alarm(20)
                    break
                }
                var status: Int32 = 0
                waitpid(child, &status, 0)
                if status & 0x7F != SIGALRM { _exit(status == 0 ? 0 : 1) }
            }
            TerminationSignals.block()
            let caught = Gate(Int32(0))
            TerminationSignals.handle { signal in caught.withLock { $0 = signal } }
            kill(getpid(), SIGTERM)
            caught.wait { $0 == SIGTERM }
            _exit(0)
        }
    }
}

/// Swift hides fork, with reason.
@_silgen_name("fork") private func forkedProcess() -> pid_t

/// 0, or the number of the line that failed.
private func unprivilegedRound() -> Int32 {
    guard unshare(CL_CLONE_NEWNS) == 0 else { return 101 }
    guard shell("mount --make-rprivate / && mount -t tmpfs none /mnt") == 0 else { return 102 }
    let prepare = """
        mknod /mnt/fuse c 10 229 && chmod 666 /mnt/fuse && mount --bind /mnt/fuse /dev/fuse &&
        mkdir /mnt/point /mnt/source && chown 65534:65534 /mnt/point /mnt/source
        """
    guard shell(prepare) == 0 else { return 103 }
    guard setgroups(0, nil) == 0, setregid(65534, 65534) == 0, setreuid(65534, 65534) == 0 else { return 104 }
    do {
        let features: Features = [.passthrough, .handleKillPrivileges]
        let mirror = try MirrorFileSystem("/mnt/source", features: features, usesBacking: true)
        let mount = try Mount(mirror, at: "/mnt/point")
        guard write("text", to: mount.file("file")), contents(mount.file("file")) == "text" else { return 105 }
        // The kernel offers passthrough to everyone, and refuses the first backing file.
        guard !mount.session.supportsPassthrough, mirror.calls["write"] == 1 else { return 106 }
        try mount.session.unmount()
        mount.wait()
        return names("/mnt/point") == [] ? 0 : 107
    } catch {
        print("unprivileged mount: \(error)")
        return 108
    }
}
