import CLinux
import Glibc
import SystemPackage
import Testing

@testable import FuseMount

/// Reads and writes that go directly to the backing file.
@Suite struct PassthroughTests {
    private let features: Features = [.readDirectoryPlus, .passthrough, .handleKillPrivileges]

    @Test func nothingIsReadOrWrittenByTheDaemon() async throws {
        try await withMirror(features: features, backing: true) { mirror, mount in
            #expect(mount.session.supportsPassthrough)
            let path = mount.file("file")
            write("hello", to: path)
            #expect(contents(path) == "hello")
            let file = open(path, O_RDWR)
            let second = open(path, O_RDWR)
            #expect(file >= 0 && second >= 0)
            let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)!
            #expect(memory != MAP_FAILED)
            memory.storeBytes(of: UInt8(ascii: "J"), as: UInt8.self)
            #expect(contents(second) == "Jello")
            #expect(pwrite(second, "y", 1, 4) == 1)
            #expect(memory.load(fromByteOffset: 4, as: UInt8.self) == UInt8(ascii: "y"))
            munmap(memory, 4096)
            close(file)
            close(second)
            #expect(mirror.calls["read"] == 0 && mirror.calls["write"] == 0)
            mirror.calls.wait("release", atLeast: 4)
        }
    }

    @Test func privilegesAreStrippedByAnotherUsersWrite() async throws {
        try await withMirror(features: features, backing: true, options: .test(allowOther: true)) { mirror, mount in
            let path = mount.file("file")
            write("hello", to: path)
            #expect(errnoOf(chmod(path, 0o6777)) == 0)
            let status = shell("exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'printf x >> \(path)'")
            #expect(status == 0)
            #expect(contents(path) == "hellox")
            #expect(FuseMountTests.status(path)!.st_mode & 0o6000 == 0)
            #expect(mirror.calls["write"] == 0)
        }
    }

    /// Bits that come while the file is open go with whatever is written after: also where the writer could keep them, but
    /// never the other way round.
    @Test(arguments: [
        (mode: UInt32(0o6777), group: UInt32(0)), (0o2666, 0), (0o6766, 0), (0o2666, 77), (0o2777, 65534),
    ])
    func setIDBitsSetOnAnOpenFileAreClearedByAnyWrite(_ mode: UInt32, _ group: UInt32) async throws {
        try await withMirror(features: features, backing: true, options: .test(allowOther: true)) { mirror, mount in
            for writer in ["--reuid 65534 --regid 65534 --clear-groups", "--reuid 0"] {
                let path = mount.file("file \(writer.count)")
                write("hello", to: path)
                #expect(errnoOf(chown(path, 0, group)) == 0)
                let file = open(path, O_WRONLY)
                #expect(errnoOf(chmod(path, mode)) == 0)
                #expect(FuseMountTests.status(path)!.st_mode & 0o7777 == mode)
                #expect(shell("printf x | setpriv \(writer) dd conv=notrunc status=none 'of=\(path)'") == 0)
                #expect(contents(path) == "xello")
                #expect(FuseMountTests.status(path)!.st_mode & 0o7777 == mode & 0o777, "\(writer)")
                close(file)
                #expect(mirror.calls["write"] == 0)
            }
        }
    }

    @Test func writesThroughTheDaemonStripPrivileges() async throws {
        try await withMirror(features: [.handleKillPrivileges], options: .test(allowOther: true)) { mirror, mount in
            let path = mount.file("file")
            write("hello", to: path)
            #expect(errnoOf(chmod(path, 0o6777)) == 0)
            #expect(shell("exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'printf x >> \(path)'") == 0)
            #expect(mirror.calls["write that kills privileges"] == 1)
        }
    }

    @Test func registrationFailsCleanlyWithoutTheFeature() async throws {
        try await withMirror { mirror, mount in
            #expect(!mount.session.supportsPassthrough)
            #expect(throws: Errno.notSupported) {
                _ = try mount.session.registerBacking(mirror.descriptor(rootNode))
            }
        }
    }

    @Test func stackedBackingIsRefusedOrAllowedByDepth() async throws {
        for depth in [1, 2] {
            try await withMirror(features: features, backing: true) { _, lower in
                write("hello", to: lower.file("file"))
                let upper = try MirrorFileSystem(lower.path, features: features, usesBacking: true)
                try await withMount(upper, options: .test(maxStackDepth: depth)) { mount in
                    upper.calls.wait("start")
                    #expect(contents(mount.file("file")) == "hello")
                    #expect((upper.calls["read"] == 0) == (depth == 2))
                }
            }
        }
    }
}
