import CLinux
import Glibc
import Testing

@testable import FuseMount

/// Contents of files through the daemon.
@Suite struct DataTests {
    @Test func writtenBytesAreReadBack() async throws {
        try await withMirror { mirror, mount in
            let path = mount.file("file")
            // Larger than one request, so that large requests and the splice path are used.
            let size = 3 << 20
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            let file = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
            #expect(pwrite(file, bytes, size, 0) == size)
            #expect(errnoOf(fsync(file)) == 0)
            #expect(errnoOf(fdatasync(file)) == 0)
            var back = [UInt8](repeating: 0, count: size + 10)
            #expect(pread(file, &back, back.count, 0) == size)
            #expect(Array(back[0..<size]) == bytes)
            close(file)
            let again = open(path, O_RDONLY)
            #expect(pread(again, &back, 1000, 1_234_567) == 1000)
            #expect(Array(back[0..<1000]) == Array(bytes[1_234_567..<1_235_567]))
            close(again)
            for name in ["create", "open", "read", "write", "flush", "fsync", "fdatasync"] {
                #expect(mirror.calls[name] > 0, "\(name)")
            }
            #expect(mirror.calls["write"] <= 4)
            mirror.calls.wait("release", atLeast: 2)
        }
    }

    @Test func holesAndCopiesReachTheFilesystem() async throws {
        try await withMirror { mirror, mount in
            let file = open(mount.file("file"), O_RDWR | O_CREAT, 0o600)
            defer { close(file) }
            #expect(errnoOf(fallocate(file, 0, 0, 1 << 20)) == 0)
            let block = [UInt8](repeating: 7, count: 4096)
            #expect(pwrite(file, block, 4096, 1 << 19) == 4096)
            // Punch a hole over the first half, keeping the size.
            #expect(errnoOf(fallocate(file, 3, 0, 1 << 19)) == 0)
            #expect(lseek(file, 0, CL_SEEK_DATA) > 0)
            #expect(lseek(file, 0, CL_SEEK_HOLE) == 0)
            let copy = open(mount.file("copy"), O_RDWR | O_CREAT, 0o600)
            defer { close(copy) }
            var from: Int64 = 1 << 19
            var to: Int64 = 0
            #expect(copy_file_range(file, &from, copy, &to, 4096, 0) == 4096)
            var back = [UInt8](repeating: 0, count: 4096)
            #expect(pread(copy, &back, 4096, 0) == 4096)
            #expect(back == block)
            for name in ["fallocate", "lseek", "copyRange"] { #expect(mirror.calls[name] > 0, "\(name)") }
        }
    }

    @Test func anUnnamedFileIsLinkedIntoTheTree() async throws {
        try await withMirror { mirror, mount in
            let file = open(mount.path, CL_O_TMPFILE | O_RDWR, 0o640)
            #expect(file >= 0)
            #expect(write(file, "text", 4) == 4)
            #expect(names(mount.path) == [])
            let source = "/proc/self/fd/\(file)"
            #expect(errnoOf(linkat(AT_FDCWD, source, AT_FDCWD, mount.file("named"), CL_AT_SYMLINK_FOLLOW)) == 0)
            close(file)
            #expect(contents(mount.file("named")) == "text")
            #expect(mirror.calls["tmpfile"] == 1)
        }
    }

    @Test func locksAreHeldByTheKernelOrTheFileSystem() async throws {
        for features: Features in [[], [.posixLocks, .flock]] {
            try await withMirror(features: features) { mirror, mount in
                let file = open(mount.file("file"), O_RDWR | O_CREAT, 0o600)
                defer { close(file) }
                #expect(lockf(file, F_TLOCK, 10) == 0)
                #expect(lockf(file, F_TEST, 10) == 0)
                #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
                #expect(flock(file, LOCK_UN) == 0)
                let count = mirror.calls["setlk"] + mirror.calls["flock"]
                #expect(features.isEmpty ? count == 0 : count >= 3)
            }
        }
    }

    @Test func aFolderOfTenThousandIsListedCompletely() async throws {
        let expected = (0..<10_000).map { "\($0)" }.sorted()
        for features: Features in [[], [.readDirectoryPlus]] {
            let fileSystem = SyntheticFileSystem(features: features, entries: 10_000)
            try await withMount(fileSystem) { mount in
                #expect(names(mount.path) == expected)
                #expect(fileSystem.calls[features.isEmpty ? "readdir" : "readdirplus"] > 0)
                // Entries from a listing need no lookup.
                #expect(statError(mount.file("0")) == 0)
                #expect(fileSystem.calls["lookup 0"] == (features.isEmpty ? 1 : 0))
            }
        }
    }
}
