import CLinux
import Glibc
import ReplicaModel
import Testing

/// Changes on the mount are immediately in the backing tree.
@Suite struct BackingTreeTests {
    @Test func changesReachTheTree() async throws {
        try await withMount { mounted, checks in
            let (mount, tree) = (mounted.mount, mounted.tree)
            checks.call(mkdir(mount + "/d", 0o750))
            checks.expect(writeFile(mount + "/d/f", "text"), "write")
            checks.call(symlink("f", mount + "/d/s"))
            checks.call(link(mount + "/d/f", mount + "/d/g"))
            checks.call(rename(mount + "/d/g", mount + "/g"))
            checks.call(chmod(mount + "/g", 0o640))
            checks.call(
                utimensat(
                    AT_FDCWD, mount + "/g", [timespec(tv_sec: 5, tv_nsec: 6), timespec(tv_sec: 7, tv_nsec: 8)], 0))
            checks.call(lsetxattr(mount + "/g", "user.k", "v", 1, 0))
            checks.equal(names(in: tree), ["d", "g"])
            checks.equal(names(in: tree + "/d"), ["f", "s"])
            checks.equal(readFile(tree + "/g"), "text")
            checks.equal(status(tree + "/g")?.st_mode, S_IFREG | 0o640)
            checks.equal(status(tree + "/g")?.st_mtim.tv_nsec, 8)
            checks.equal(status(tree + "/d")?.st_mode, S_IFDIR | 0o750)
            checks.equal(lgetxattr(tree + "/g", "user.k", nil, 0), 1)
            checks.call(unlink(mount + "/d/f"))
            checks.call(unlink(mount + "/d/s"))
            checks.call(rmdir(mount + "/d"))
            checks.equal(names(in: tree), ["g"])
        }
    }

    @Test func hardLinksShareAnInodeNumber() async throws {
        try await withMount { mounted, checks in
            let mount = mounted.mount
            checks.expect(writeFile(mount + "/a", "one"), "write")
            let number = status(mount + "/a")?.st_ino
            checks.call(link(mount + "/a", mount + "/b"))
            checks.equal(status(mount + "/b")?.st_ino, number)
            checks.call(unlink(mount + "/a"))
            checks.equal(status(mount + "/b")?.st_ino, number)
            checks.call(rename(mount + "/b", mount + "/c"))
            checks.equal(status(mount + "/c")?.st_ino, number)
            checks.equal(readFile(mount + "/c"), "one")
            checks.equal(status(mount)?.st_ino, 1)
        }
    }

    @Test func namesAreBytes() async throws {
        try await withMount { mounted, checks in
            let odd: [[UInt8]] = [
                [0xFF, 0xFE], Array(repeating: 0x80, count: 255), [0xC3], Array("e\u{301}".utf8), Array("\u{E9}".utf8),
                [0x0A], [0x5C, 0x20],
            ]
            for bytes in odd {
                let path = FileName(bytes: Array(mounted.mount.utf8) + [0x2F] + bytes)
                let below = FileName(bytes: Array(mounted.tree.utf8) + [0x2F] + bytes)
                checks.call(path.withCString { mkdir($0, 0o700) }, "mkdir \(bytes.count)")
                var found = stat()
                checks.call(below.withCString { lstat($0, &found) }, "in the tree")
            }
            checks.equal(names(in: mounted.mount).count, odd.count)
            for bytes in odd {
                let path = FileName(bytes: Array(mounted.mount.utf8) + [0x2F] + bytes)
                checks.call(path.withCString { rmdir($0) }, "rmdir \(bytes.count)")
            }
        }
    }

    @Test func theReplicasAttributesAreVirtual() async throws {
        try await withMount { mounted, checks in
            let path = mounted.mount + "/f"
            checks.expect(writeFile(path, "x"), "write")
            var value = [UInt8](repeating: 0, count: 100)
            let length = checks.call(lgetxattr(path, "user.replica.state", &value, 100))
            checks.equal(String(decoding: value.prefix(max(0, length)), as: UTF8.self), "materialized")
            checks.refused(lgetxattr(path, "user.replica.pin", &value, 100), ENODATA)
            checks.call(lsetxattr(path, "user.replica.pin", "pinned", 6, 0))
            checks.equal(lgetxattr(path, "user.replica.pin", &value, 100), 6)
            checks.refused(lsetxattr(path, "user.replica.pin", "nonsense", 8, 0), EINVAL)
            checks.refused(lsetxattr(path, "user.replica.state", "x", 1, 0), EPERM)
            checks.equal(llistxattr(path, nil, 0), 0)
            checks.call(lremovexattr(path, "user.replica.pin"))
            checks.refused(lgetxattr(path, "user.replica.pin", &value, 100), ENODATA)
        }
    }
}
