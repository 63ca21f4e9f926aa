import CLinux
import Glibc
import Testing

@testable import FuseMount

/// Every operation reaches the filesystem, and its answer reaches the caller.
@Suite struct OperationTests {
    @Test func operationsOnNamesReachTheFilesystem() async throws {
        try await withMirror { mirror, mount in
            #expect(errnoOf(mkdir(mount.file("folder"), 0o755)) == 0)
            #expect(errnoOf(mkdir(mount.file("folder"), 0o755)) == EEXIST)
            #expect(errnoOf(mknod(mount.file("pipe"), S_IFIFO | 0o600, 0)) == 0)
            #expect(status(mount.file("pipe"))!.st_mode == S_IFIFO | 0o600)
            #expect(errnoOf(symlink("no/where", mount.file("link"))) == 0)
            var target = [CChar](repeating: 0, count: 100)
            #expect(readlink(mount.file("link"), &target, 100) == 8)
            #expect(write("hello", to: mount.file("folder/file")))
            #expect(errnoOf(link(mount.file("folder/file"), mount.file("second"))) == 0)
            #expect(status(mount.file("second"))!.st_nlink == 2)
            #expect(names(mount.path) == ["folder", "link", "pipe", "second"])
            #expect(errnoOf(rmdir(mount.file("folder"))) == ENOTEMPTY)
            #expect(errnoOf(unlink(mount.file("folder/file"))) == 0)
            #expect(errnoOf(rmdir(mount.file("folder"))) == 0)
            #expect(statError(mount.file("folder")) == ENOENT)
            let folder = open(mount.path, O_RDONLY | O_DIRECTORY)
            #expect(errnoOf(fsync(folder)) == 0)
            close(folder)
            for name in [
                "start", "lookup", "mkdir", "mknod", "symlink", "readlink", "create", "link", "opendir", "readdirplus",
                "unlink", "rmdir", "fsyncdir", "getattr",
            ] {
                #expect(mirror.calls[name] > 0, "\(name)")
            }
            mirror.calls.wait("releasedir")
            mirror.calls.wait("forget")
        }
    }

    @Test func renameFlagsReachTheFilesystem() async throws {
        try await withMirror { mirror, mount in
            write("a", to: mount.file("a"))
            write("b", to: mount.file("b"))
            func rename(_ from: String, _ to: String, _ flags: Int32) -> Int32 {
                errnoOf(renameat2(AT_FDCWD, mount.file(from), AT_FDCWD, mount.file(to), UInt32(flags)))
            }
            #expect(rename("a", "b", CL_RENAME_NOREPLACE) == EEXIST)
            #expect(rename("a", "b", CL_RENAME_EXCHANGE) == 0)
            #expect(contents(mount.file("a")) == "b")
            #expect(rename("a", "c", CL_RENAME_NOREPLACE) == 0)
            #expect(rename("c", "b", 0) == 0)
            #expect(contents(mount.file("b")) == "b")
            #expect(names(mount.path) == ["b"])
            #expect(mirror.calls["rename"] >= 3)
        }
    }

    @Test func attributesReachTheFilesystem() async throws {
        try await withMirror(options: .test(defaultPermissions: false)) { mirror, mount in
            let path = mount.file("file")
            write("0123456789", to: path)
            #expect(errnoOf(chmod(path, 0o4751)) == 0)
            #expect(status(path)!.st_mode == S_IFREG | 0o4751)
            #expect(errnoOf(chown(path, 12, 34)) == 0)
            #expect(status(path)!.st_uid == 12 && status(path)!.st_gid == 34)
            #expect(errnoOf(truncate(path, 4)) == 0)
            #expect(contents(path) == "0123")
            let times = [timespec(tv_sec: 5, tv_nsec: 6), timespec(tv_sec: 7, tv_nsec: 123_456_789)]
            #expect(errnoOf(utimensat(AT_FDCWD, path, times, 0)) == 0)
            #expect(status(path)!.st_atim.tv_nsec == 6)
            #expect(status(path)!.st_mtim.tv_sec == 7 && status(path)!.st_mtim.tv_nsec == 123_456_789)
            #expect(errnoOf(utimes(path, nil)) == 0)
            #expect(status(path)!.st_mtim.tv_sec > 1_000_000)
            #expect(access(path, R_OK) == 0)
            var statistics = statvfs()
            #expect(errnoOf(statvfs(mount.path, &statistics)) == 0)
            #expect(statistics.f_blocks > 0)
            for name in ["setattr", "getattr", "access", "statfs"] { #expect(mirror.calls[name] > 0, "\(name)") }
        }
    }

    @Test func theBirthTimeReachesTheCaller() async throws {
        try await withMirror { mirror, mount in
            write("x", to: mount.file("file"))
            var full = cl_statx()
            #expect(cl_statx_of(AT_FDCWD, mount.file("file"), 0, UInt32(CL_STATX_ALL), &full) == 0)
            #expect(mirror.calls["statx"] > 0)
            #expect(full.mask & 0x800 != 0)
            #expect(full.btime.seconds > 1_000_000 && full.size == 1)
            #expect(full.mode == UInt16(S_IFREG | 0o644))
        }
    }

    @Test func extendedAttributesReachTheFilesystem() async throws {
        try await withMirror { mirror, mount in
            let path = mount.file("file")
            write("x", to: path)
            #expect(errnoOf(setxattr(path, "user.a", "value", 5, 0)) == 0)
            #expect(errnoOf(setxattr(path, "user.a", "value", 5, 1)) == EEXIST)
            var value = [UInt8](repeating: 0, count: 100)
            #expect(getxattr(path, "user.a", &value, 0) == 5)
            #expect(getxattr(path, "user.a", &value, 100) == 5)
            #expect(Array(value[0..<5]) == Array("value".utf8))
            #expect(errnoOf(getxattr(path, "user.a", &value, 2)) == ERANGE)
            #expect(listxattr(path, nil, 0) >= 7)
            #expect(errnoOf(removexattr(path, "user.a")) == 0)
            #expect(errnoOf(getxattr(path, "user.a", &value, 100)) == ENODATA)
            for name in ["setxattr", "getxattr", "listxattr", "removexattr"] { #expect(mirror.calls[name] > 0) }
        }
    }
}
