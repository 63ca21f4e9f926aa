import Glibc
import SystemPackage
import Testing
import Threads

@testable import FuseMount

/// In containers some of the calls are refused: AppArmor's answer is EACCES, LXD's ENOSYS, others' EPERM. Each test has a
/// process of its own in its own mount namespace.
@Suite struct RefusedCallTests {
    @Test func rootMountsWithoutTheNewCalls() async {
        await #expect(processExitsWith: .exitCode(0)) {
            for error in [ENOSYS, EACCES, EPERM] {
                for call in [RefusedCalls.Call.fsopen, .fsconfig, .fsmount, .moveMount] {
                    let failure = Running { mount(RefusedCalls([call], error)) }.wait()
                    print(call, Errno(rawValue: error), failure ?? "mounted")
                    if failure != nil { exit(1) }
                }
            }
            exit(0)
        }
    }

    @Test func theFailedCallIsNamed() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let failure = Running { mount(RefusedCalls([.moveMount], ENOMEM)) }.wait()
            print(failure ?? "mounted")
            exit(failure == "/mnt/a/point: move_mount: Cannot allocate memory" ? 0 : 1)
        }
    }

    @Test func pathsAreWalkedWithoutOpenat2() async {
        await #expect(processExitsWith: .exitCode(0)) {
            for error in [ENOSYS, EPERM] {
                let found = Running { walk(RefusedCalls([.openat2], error)) }.wait()
                print(Errno(rawValue: error), found)
                // As openat2 does.
                guard found == Running({ walk(RefusedCalls([], error)) }).wait(), found.first == 0 else { exit(1) }
            }
            exit(0)
        }
    }
}

/// Why a mount fails, or nil.
private func mount(_ calls: RefusedCalls) -> String? {
    guard prepare("true"), calls.refuse() else { return "not prepared" }
    let before = contents("/proc/thread-self/mounts")
    do {
        let session = try Session(SyntheticFileSystem(), options: .test())
        try session.mount(at: "/mnt/a/point")
        guard mountpoints("fuse.fusemounttest") == ["/mnt/a/point"] else { return "not there" }
        guard session.isMounted else { return "not identified" }
        try session.unmount(lazy: true)
    } catch {
        return "\(error)"
    }
    return contents("/proc/thread-self/mounts") == before ? nil : "not unmounted"
}

/// The error for each of these paths, or 0.
private func walk(_ calls: RefusedCalls) -> [Int32] {
    let script = "cd /mnt/a && ln -s point link && ln -s first toFile && exec 9<>/dev/fuse && mkdir dead"
    let options = "fd=9,rootmode=40000,user_id=0,group_id=0"
    guard prepare("\(script) && mount -i -t fuse.dead -o \(options) dead dead"), calls.refuse() else { return [-1] }
    let paths = [
        "/mnt/a/point", "/mnt/a//point/", "/mnt/a/point/../first", "/mnt/a/first", "/mnt/a/dead", "/",
        "/mnt/a/link", "/mnt/a/link/", "/mnt/a/link/x", "/mnt/a/toFile/x", "/proc/self", "/mnt/a/first/",
        "/mnt/a/first/x", "/mnt/a/no", "/mnt/a/no/x", "",
    ]
    return paths.map { path in
        do throws(Errno) {
            close(try HeldMountpoint.open(path))
            return 0
        } catch {
            return error.rawValue
        }
    }
}
