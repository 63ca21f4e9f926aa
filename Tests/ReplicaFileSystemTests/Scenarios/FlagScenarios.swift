import CLinux
import Glibc

/// What chattr(1) and lsattr(1) do.
enum FlagScenarios {
    static let all: [Scenario] = [
        Scenario("flags are kept and told") { probe in
            probe.close(probe.open("f", O_CREAT | O_WRONLY))
            probe.mkdir("d")
            for name in ["f", "d"] {
                probe.flags(name)
                for flag in [CL_FS_NODUMP_FL, CL_FS_NOATIME_FL | CL_FS_SYNC_FL, 0] {
                    probe.setFlags(name, set: UInt32(flag))
                    probe.flags(name)
                    probe.extended(name)
                }
            }
            probe.setExtended("f", flags: 0x80, project: 0)
            probe.flags("f")
            probe.extended("f")
            probe.setFlags("f", set: 1 << 31)
            probe.setExtended("f", flags: 0, project: 7)
            probe.ioctl("f", 0x5401)
        },
        Scenario("what is immutable stays") { probe in
            probe.mkdir("d")
            probe.close(probe.open("d/f", O_CREAT | O_WRONLY))
            for name in ["d/f", "d"] {
                probe.setFlags(name, set: UInt32(CL_FS_IMMUTABLE_FL))
                probe.extended(name)
            }
            suffer(probe)
            for name in ["d", "d/f"] { probe.setFlags(name, set: 0) }
            probe.close(probe.open("d/f", O_WRONLY | O_TRUNC))
            probe.unlink("d/f")
            probe.rmdir("d")
        },
        Scenario("what is append-only grows") { probe in
            probe.mkdir("d")
            probe.close(probe.open("d/f", O_CREAT | O_WRONLY))
            for name in ["d/f", "d"] { probe.setFlags(name, set: UInt32(CL_FS_APPEND_FL)) }
            suffer(probe)
            let file = probe.open("d/f", O_WRONLY | O_APPEND)
            probe.write(file, "more")
            probe.write(file, "more")
            probe.call("ftruncate") { Int(ftruncate(file, 0)) }
            probe.close(file)
            probe.stat("d/f")
            probe.open("d/f", O_WRONLY | O_APPEND | O_TRUNC)
            for name in ["d", "d/f"] { probe.setFlags(name, set: 0) }
            probe.unlink("d/f")
            probe.rmdir("d")
        },
        Scenario("flags are the owner's, and some are root's") { probe in
            probe.close(probe.open("roots", O_CREAT | O_WRONLY, 0o666))
            probe.close(probe.open("mine", O_CREAT | O_WRONLY, 0o666))
            probe.chown("mine", 4711, 4711)
            probe.as(4711) {
                for name in ["roots", "mine"] {
                    probe.flags(name)
                    for flag in [CL_FS_NODUMP_FL, CL_FS_IMMUTABLE_FL, CL_FS_APPEND_FL, CL_FS_JOURNAL_DATA_FL, 0] {
                        probe.setFlags(name, set: UInt32(flag))
                    }
                    probe.setExtended(name, flags: 0x80, project: 0)
                    probe.setExtended(name, flags: 0, project: 7)
                    probe.flags(name)
                }
            }
        },
    ]

    private static func suffer(_ probe: Probe) {
        probe.open("d/f", O_WRONLY)
        probe.open("d/f", O_RDWR | O_TRUNC)
        probe.close(probe.open("d/f", O_RDONLY))
        probe.truncate("d/f", 0)
        probe.chmod("d/f", 0o600)
        probe.chown("d/f", 1, 1)
        let times = [timespec(tv_sec: 1, tv_nsec: 1), timespec(tv_sec: 1, tv_nsec: 1)]
        probe.call("utimensat") { Int(utimensat(AT_FDCWD, probe.path("d"), times, 0)) }
        probe.call("touch") { Int(utimensat(AT_FDCWD, probe.path("d/f"), nil, 0)) }
        probe.setXattr("d/f", "user.x", "y")
        probe.link("d/f", "second")
        probe.rename("d/f", "moved")
        probe.unlink("d/f")
        probe.close(probe.open("d/new", O_CREAT | O_WRONLY))
        probe.mkdir("d/sub")
        probe.unlink("d/new")
        probe.rmdir("d/sub")
        probe.rename("d", "other")
        probe.rmdir("d")
    }
}

extension Probe {
    private func withFile(_ name: String, _ body: (Int32) -> Void) {
        let file = Glibc.open(path(name), O_RDONLY | O_NONBLOCK)
        guard file >= 0 else { return note("open \(name): \(errno)") }
        body(file)
        Glibc.close(file)
    }

    fileprivate func flags(_ name: String) {
        var flags: UInt32 = 0
        withFile(name) { file in
            call("getflags \(name)") { Int(Glibc.ioctl(file, UInt(CL_FS_IOC_GETFLAGS), &flags)) }
        }
        note(String(flags, radix: 16))
    }

    /// Has those of chattr(1)'s flags that the scenarios set be exactly `set`.
    fileprivate func setFlags(_ name: String, set: UInt32) {
        withFile(name) { file in
            var flags: UInt32 = 0
            _ = Glibc.ioctl(file, UInt(CL_FS_IOC_GETFLAGS), &flags)
            flags = flags & ~0xF8 | set
            call("setflags \(name) \(set)") { Int(Glibc.ioctl(file, UInt(CL_FS_IOC_SETFLAGS), &flags)) }
        }
    }

    fileprivate func extended(_ name: String) {
        var value = [UInt32](repeating: 0, count: 7)
        withFile(name) { file in
            call("fsgetxattr \(name)") { Int(Glibc.ioctl(file, UInt(CL_FS_IOC_FSGETXATTR), &value)) }
        }
        // The third is how many pieces the file has on the disk.
        note("\(value[0]) \(value[1]) \(value[3]) \(value[4])")
    }

    fileprivate func setExtended(_ name: String, flags: UInt32, project: UInt32) {
        var value: [UInt32] = [flags, 0, 0, project, 0, 0, 0]
        withFile(name) { file in
            call("fssetxattr \(name)") { Int(Glibc.ioctl(file, UInt(CL_FS_IOC_FSSETXATTR), &value)) }
        }
    }

    fileprivate func ioctl(_ name: String, _ request: UInt) {
        var value = [UInt8](repeating: 0, count: 256)
        withFile(name) { file in call("ioctl \(name)") { Int(Glibc.ioctl(file, request, &value)) } }
    }
}
