import CLinux
import Glibc

/// Modes, owners, times, extended attributes.
enum AttributeScenarios {
    private static let accessACL = "system.posix_acl_access"

    static let all: [Scenario] = [
        Scenario("modes") { probe in
            probe.close(probe.open("f", O_CREAT | O_WRONLY, 0o7777))
            probe.stat("f")
            for mode: UInt32 in [0, 0o7777, 0o444, 0o2750, 0o1644] {
                probe.chmod("f", mode)
                probe.stat("f")
            }
            probe.chmod("none", 0o600)
            probe.mkdir("d", 0o7777)
            probe.stat("d")
            probe.chmod("d", 0o2775)
            probe.stat("d")
        },
        Scenario("set-group-ID folders") { probe in
            probe.mkdir("d")
            probe.chown("d", 0, 55)
            probe.chmod("d", 0o2775)
            probe.close(probe.open("d/f", O_CREAT | O_WRONLY))
            probe.mkdir("d/sub")
            probe.symlink("x", "d/s")
            probe.mknod("d/p", S_IFIFO | 0o600)
            for name in ["d/f", "d/sub", "d/s", "d/p"] { probe.stat(name) }
        },
        Scenario("owners") { probe in
            probe.close(probe.open("f", O_CREAT | O_WRONLY, 0o6755))
            probe.chown("f", 1000, 1001)
            probe.stat("f")
            probe.chown("f", .max, 7)
            probe.stat("f")
            probe.chown("none", 1, 1)
            probe.mkdir("d", 0o2755)
            probe.chown("d", 12, 13)
            probe.stat("d")
        },
        Scenario("times") { probe in
            probe.close(probe.open("f", O_CREAT | O_WRONLY))
            probe.setTimes("f", 1_234_567_890, 123_456_789)
            probe.setTimes("f", 0, 0)
            probe.setTimes("f", -5, 5)
            probe.setTimes("f", 4_294_967_296, 999_999_999)
            probe.setTimes("none", 1, 1)
            probe.mkdir("d")
            probe.setTimes("d", 99, 100)
        },
        Scenario("sizes") { probe in
            probe.close(probe.open("f", O_CREAT | O_WRONLY))
            probe.truncate("f", 10)
            probe.stat("f")
            probe.truncate("f", 3)
            probe.stat("f")
            probe.truncate("f", -1)
            probe.truncate("none", 1)
            probe.truncate("f", 1 << 40)
            probe.stat("f")
            probe.truncate("f", 1 << 62)
        },
        Scenario("extended attributes") { probe in
            probe.close(probe.open("f", O_CREAT | O_WRONLY))
            probe.setXattr("f", "user.one", "first")
            probe.setXattr("f", "user.one", "again", 1)
            probe.setXattr("f", "user.two", "second", 2)
            probe.setXattr("f", "user.empty", "")
            probe.getXattr("f", "user.one")
            probe.getXattr("f", "user.one", room: 0)
            probe.getXattr("f", "user.one", room: 2)
            probe.getXattr("f", "user.empty")
            probe.getXattr("f", "user.none")
            probe.listXattrs("f")
            probe.listXattrs("f", room: 0)
            probe.listXattrs("f", room: 3)
            probe.setXattr("f", "user.one", "replaced", 2)
            probe.getXattr("f", "user.one")
            probe.removeXattr("f", "user.one")
            probe.removeXattr("f", "user.one")
            probe.listXattrs("f")
            probe.setXattr("f", "bogus.name", "x")
            probe.getXattr("f", "bogus.name")
            probe.setXattr("f", "trusted.t", "trust")
            probe.getXattr("f", "trusted.t")
            probe.mkdir("d")
            probe.setXattr("d", "user.dir", "yes")
            probe.getXattr("d", "user.dir")
            probe.symlink("x", "s")
            probe.setXattr("s", "user.link", "no")
            probe.getXattr("f", accessACL)
            probe.setXattr("f", "user.big", String(repeating: "v", count: 3000))
            probe.getXattr("f", "user.big", room: 3000)
        },
        Scenario("as somebody else") { probe in
            probe.close(probe.open("secret", O_CREAT | O_WRONLY, 0o600))
            probe.mkdir("closed", 0o755)
            probe.mkdir("shared", 0o777)
            probe.chmod("shared", 0o1777)
            probe.close(probe.open("shared/roots", O_CREAT | O_WRONLY, 0o666))
            setfsgid(4711)
            setfsuid(4711)
            defer {
                setfsuid(0)
                setfsgid(0)
            }
            probe.open("secret", O_RDONLY)
            probe.open("closed/f", O_CREAT | O_WRONLY)
            probe.mkdir("closed/d")
            probe.close(probe.open("shared/mine", O_CREAT | O_WRONLY, 0o640))
            probe.stat("shared/mine")
            probe.mkdir("shared/my-folder", 0o750)
            probe.stat("shared/my-folder")
            probe.symlink("x", "shared/my-link")
            probe.stat("shared/my-link")
            probe.unlink("shared/roots")
            probe.rename("shared/roots", "shared/stolen")
            probe.chmod("secret", 0o666)
            probe.chown("shared/mine", 0, 0)
            probe.chmod("shared/mine", 0o600)
            probe.setTimes("shared/mine", 5, 6)
            probe.setXattr("secret", "user.x", "y")
            probe.setXattr("shared/mine", "user.x", "y")
            probe.setXattr("shared/mine", "trusted.x", "y")
            probe.truncate("secret", 0)
            probe.mknod("shared/device", S_IFCHR | 0o600, 0x103)
            probe.unlink("shared/mine")
            probe.rmdir("shared/my-folder")
            probe.list("shared")
        },
        Scenario("set-user-ID goes with a write") { probe in
            for name in ["w", "t", "a", "o"] {
                let file = probe.open(name, O_CREAT | O_WRONLY)
                probe.write(file, "program")
                probe.close(file)
                probe.chmod(name, 0o6777)
            }
            setfsgid(4711)
            setfsuid(4711)
            let file = probe.open("w", O_WRONLY)
            probe.write(file, "x")
            probe.fstat(file)
            probe.close(file)
            truncateAndAllocate(probe)
            probe.close(probe.open("o", O_WRONLY | O_TRUNC))
            setfsuid(0)
            setfsgid(0)
            for name in ["w", "t", "a", "o"] { probe.stat(name) }
        },
        Scenario("set-user-ID stays when root writes") { probe in
            let made = probe.open("c", O_CREAT | O_WRONLY, 0o6755)
            probe.write(made, "program")
            probe.fstat(made)
            probe.close(made)
            for (name, mode) in [("w", 0o4755), ("t", 0o2711), ("a", 0o6777), ("o", 0o6755)] as [(String, UInt32)] {
                probe.close(probe.open(name, O_CREAT | O_WRONLY))
                probe.chmod(name, mode)
            }
            let file = probe.open("w", O_RDWR | O_APPEND)
            probe.write(file, "program")
            probe.fstat(file)
            probe.close(file)
            truncateAndAllocate(probe)
            let truncated = probe.open("o", O_WRONLY | O_TRUNC)
            probe.write(truncated, "x")
            probe.close(truncated)
            for name in ["c", "w", "t", "a", "o"] { probe.stat(name) }
        },
    ]
}

/// Changes the contents of two files otherwise than by a write.
private func truncateAndAllocate(_ probe: Probe) {
    probe.truncate("t", 1)
    let allocated = probe.open("a", O_WRONLY)
    probe.allocate(allocated, 0, 0, 100)
    probe.close(allocated)
}
