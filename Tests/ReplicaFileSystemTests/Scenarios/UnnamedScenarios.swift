import CLinux
import Glibc

/// Files that have no name until they are given one (O_TMPFILE, open(2)).
enum UnnamedScenarios {
    static let all: [Scenario] = [
        Scenario("a file without a name") { probe in
            probe.mkdir("d")
            let file = probe.open("d", CL_O_TMPFILE | O_RDWR, 0o6666)
            probe.fstat(file)
            probe.write(file, "text")
            probe.read(file, 10, at: 0)
            probe.call("ftruncate") { Int(ftruncate(file, 2)) }
            probe.call("fsync") { Int(fsync(file)) }
            probe.call("fchmod") { Int(fchmod(file, 0o640)) }
            probe.fstat(file)
            probe.list("d")
            probe.name(file, "d/f")
            probe.fstat(file)
            probe.list("d")
            probe.write(file, "more")
            probe.name(file, "d/f")
            probe.name(file, "d/second")
            probe.close(file)
            for name in ["d/f", "d/second"] { probe.stat(name) }
            let named = probe.open("d/f", O_RDONLY)
            probe.read(named, 10)
            probe.close(named)
            probe.unlink("d/f")
            probe.stat("d/second")
            probe.rename("d/second", "d/third")
            probe.list("d")
        },
        Scenario("a file without a name that gets none") { probe in
            probe.mkdir("d")
            let only = probe.open("d", CL_O_TMPFILE | O_RDWR | O_EXCL)
            probe.name(only, "d/f")
            probe.write(only, "text")
            probe.rmdir("d")
            probe.fstat(only)
            probe.close(only)
            probe.open("none", CL_O_TMPFILE | O_RDWR)
            probe.open("", CL_O_TMPFILE | O_RDONLY)
        },
        Scenario("whose a file without a name is") { probe in
            probe.mkdir("d", 0o777)
            probe.chown("d", 0, 55)
            probe.chmod("d", 0o2777)
            probe.mkdir("e", 0o755)
            probe.mkdir("l", 0o777)
            probe.chmod("l", 0o777)
            let list: [UInt8] =
                [2, 0, 0, 0] + [1, 0, 7, 0, 255, 255, 255, 255] + [4, 0, 7, 0, 255, 255, 255, 255]
                + [32, 0, 7, 0, 255, 255, 255, 255]
            probe.call("default ACL") {
                Int(lsetxattr(probe.path("l"), "system.posix_acl_default", list, list.count, 0))
            }
            probe.as(4711) {
                for folder in ["d", "l"] {
                    let file = probe.open(folder, CL_O_TMPFILE | O_WRONLY, 0o6777)
                    probe.fstat(file)
                    probe.name(file, folder + "/f")
                    probe.close(file)
                    probe.stat(folder + "/f")
                }
                probe.open("e", CL_O_TMPFILE | O_WRONLY)
            }
        },
    ]
}

extension Probe {
    fileprivate func name(_ file: Int32, _ name: String) {
        call("linkat \(name)") {
            Int(linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, path(name), CL_AT_SYMLINK_FOLLOW))
        }
    }
}
