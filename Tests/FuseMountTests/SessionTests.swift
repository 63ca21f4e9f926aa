import Glibc
import SystemPackage
import Testing
import Threads

@testable import FuseMount

/// The life of a mount.
@Suite struct SessionTests {
    @Test func aSessionEndsWhenUnmountedByOthers() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            #expect(statError(mount.file("1")) == 0)
            #expect(shell("umount \(mount.path)") == 0)
            mount.wait()
            #expect(fileSystem.calls["start"] == 1 && fileSystem.calls["stop"] == 1)
            #expect(throws: Errno.invalidArgument) { try mount.session.unmount() }
        }
    }

    @Test func aBusyMountIsOnlyUnmountedLazily() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            let file = open(mount.file("1"), O_RDONLY)
            defer { close(file) }
            #expect(throws: Errno.resourceBusy) { try mount.session.unmount() }
            #expect(statError(mount.file("2")) == 0)
            try mount.session.unmount(lazy: true)
            mount.wait()
            #expect(names(mount.path) == [])
            var byte: UInt8 = 0
            #expect([ENOTCONN, ECONNABORTED].contains(errnoOf(read(file, &byte, 1))))
        }
    }

    @Test func parkedRepliesAreAnsweredAtTheEnd() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            let readers = (0..<8).map { number in
                Running { () -> Int32 in
                    let file = open(mount.file("\(number)"), O_RDONLY)
                    defer { close(file) }
                    var byte: UInt8 = 0
                    return errnoOf(read(file, &byte, 1))
                }
            }
            fileSystem.reads.wait { $0.count == 8 }
            mount.end()
            for reader in readers { #expect([ENOTCONN, ECONNABORTED].contains(reader.wait())) }
            let left = fileSystem.reads.withLock { $0.filter { $0.take() != nil }.count }
            #expect(left == 0)
        }
    }

    @Test func abortedConnectionLeavesNoMount() async throws {
        try await withMount(SyntheticFileSystem()) { mount in
            let file = open(mount.file("1"), O_RDONLY)
            defer { close(file) }
            #expect(shell("umount -f \(mount.path) 2>/dev/null") != 0)
            mount.wait()
            #expect(names(mount.path) == [])
        }
    }

    /// Mounts connections whose other end is closed right away, as a daemon's death leaves them.
    @Test func deadMountsAreCleaned() async throws {
        try await onOwnThread {
            try await withFolder { folder in
                let options = "fd=9,rootmode=40000,user_id=0,group_id=0"
                let command = "exec 9<>/dev/fuse; mount -i -t fuse.dead -o \(options) dead \(folder)"
                #expect(shell(command) == 0)
                #expect(statError(folder + "/x") == ENOTCONN)
                let mount = try Mount(SyntheticFileSystem(), at: folder)
                #expect(statError(mount.file("1")) == 0)
                mount.end()
                #expect(names(folder) == [])
            }
        }
    }

    @Test func aFailedMountIsExplained() async throws {
        try await withFolder { folder in
            let session = try Session(SyntheticFileSystem(), options: MountOptions(fsName: "a", subtype: "b"))
            #expect(throws: MountError.self) { try session.mount(at: folder + "/absent") }
            do throws(MountError) {
                try session.mount(at: folder + "/absent")
            } catch {
                #expect(error.description.contains("absent"))
                #expect(error.description.contains("No such file"))
            }
            var options = MountOptions(fsName: "a", subtype: "b")
            options.extra = ["--wrong"]
            #expect(throws: (any Error).self) {
                try Session(SyntheticFileSystem(), options: options).mount(at: folder)
            }
        }
    }

    @Test func optionsReachTheMount() async throws {
        let options = MountOptions.test(fsName: "a,b\\c", readOnly: true, extra: ["noatime"])
        try await withMount(SyntheticFileSystem(), options: options) { mount in
            let line = contents("/proc/self/mounts")!.split(separator: "\n").last { $0.contains(mount.path) }!
            #expect(line.hasPrefix("a,b\\134c "))
            #expect(line.contains(" fuse.fusemounttest ro,"))
            #expect(line.contains("noatime"))
            #expect(errnoOf(mkdir(mount.file("x"), 0o700)) == EROFS)
        }
    }

    @Test func concurrentRequestsUseFewThreads() async throws {
        try await withMirror(options: .test(maxThreads: 3)) { mirror, mount in
            let workers = (0..<8).map { worker in
                Running { () -> Bool in
                    for number in 0..<200 {
                        let path = mount.file("\(worker)-\(number)")
                        guard write("text", to: path), contents(path) == "text", unlink(path) == 0 else {
                            return false
                        }
                    }
                    return true
                }
            }
            for worker in workers { #expect(worker.wait()) }
            #expect(names(mount.path) == [])
        }
    }
}
