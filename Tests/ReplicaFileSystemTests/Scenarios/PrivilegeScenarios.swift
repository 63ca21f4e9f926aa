import CLinux
import Glibc

/// What becomes of set-user-ID and set-group-ID when somebody else changes a file, and what is seen of it at once.
enum PrivilegeScenarios {
    static let all: [Scenario] = [
        Scenario("set-group-ID goes with a write unless the writer is in the group") { probe in
            for (name, mode, group) in cases {
                probe.make(name, mode, group)
                probe.as(stranger) {
                    let file = probe.open(name, O_WRONLY)
                    probe.write(file, "x")
                    probe.close(file)
                }
                probe.stat(name)
            }
        },
        Scenario("set-group-ID goes with other changes of the bytes alike") { probe in
            for (name, mode, group) in cases {
                for way in ["cut", "room", "copy", "empty"] {
                    let name = name + way
                    probe.make(name, mode, group)
                    probe.as(stranger) { change(probe, name, way) }
                    probe.stat(name)
                }
            }
        },
        Scenario("set-ID bits when the group becomes another") { probe in
            for (name, mode, group) in cases {
                probe.make(name, mode, group)
                probe.chown(name, stranger, group)
                probe.chmod(name, mode)
                probe.as(stranger) { probe.chown(name, stranger, stranger) }
                probe.stat(name)
            }
        },
        Scenario("the mode alone is seen as it is") { probe in
            for way in ["write", "cut", "room", "copy"] {
                probe.make(way, 0o6777, 0)
                probe.stat(way)
                probe.mode(way)
                probe.as(stranger) { change(probe, way, way) }
                probe.mode(way)
                // What gets the bits while it is open for writing.
                let name = way + " open"
                probe.make(name, 0o777, 0)
                let file = probe.open(name, O_WRONLY)
                probe.chmod(name, 0o6777)
                probe.mode(name)
                probe.as(stranger) { change(probe, name, way) }
                probe.mode(name)
                probe.close(file)
                probe.mode(name)
            }
        },
        Scenario("an ACL takes set-group-ID where chmod would") { probe in
            let folders: [(String, UInt32, UInt32)] = [("mine", stranger, 77), ("member", stranger, stranger)]
            for (name, owner, group) in folders {
                probe.make(name, 0o2755, group)
                probe.mkdir(name + " d")
                for name in [name, name + " d"] {
                    probe.chown(name, owner, group)
                    probe.chmod(name, 0o2755)
                    probe.as(stranger) { probe.setACL(name) }
                    probe.stat(name)
                }
            }
            probe.make("root's", 0o2755, 77)
            probe.setACL("root's")
            probe.stat("root's")
        },
    ]

    private static let stranger: UInt32 = 4711

    /// Names with a mode and a group.
    private static let cases: [(String, UInt32, UInt32)] = [
        ("both", 0o6777, 0), ("group", 0o2777, 0), ("no execution", 0o2666, 0), ("user, none", 0o6766, 0),
        ("member", 0o2777, stranger), ("member, none", 0o2666, stranger), ("member, both", 0o6766, stranger),
    ]

    private static func change(_ probe: Probe, _ name: String, _ way: String) {
        switch way {
        case "cut": probe.truncate(name, 2)
        case "empty": probe.close(probe.open(name, O_WRONLY | O_TRUNC))
        case "write":
            let file = probe.open(name, O_WRONLY)
            probe.write(file, "x")
            probe.close(file)
        case "room":
            let file = probe.open(name, O_WRONLY)
            probe.allocate(file, 0, 0, 100)
            probe.close(file)
        default:
            let file = probe.open(name, O_RDWR)
            var (from, into): (Int64, Int64) = (0, 3)
            probe.call("copy") { copy_file_range(file, &from, file, &into, 2, 0) }
            probe.close(file)
        }
    }
}

extension Probe {
    /// Makes a file of seven bytes.
    fileprivate func make(_ name: String, _ mode: UInt32, _ group: UInt32) {
        let file = open(name, O_CREAT | O_WRONLY)
        write(file, "program")
        close(file)
        chown(name, 0, group)
        chmod(name, mode)
    }

    /// Calls `body` as a user of one group.
    func `as`(_ user: UInt32, _ body: () -> Void) {
        setfsgid(user)
        setfsuid(user)
        body()
        setfsuid(0)
        setfsgid(0)
    }

    /// The mode, where nothing else is asked for.
    fileprivate func mode(_ name: String) {
        var status = cl_statx()
        call("statx \(name)") { Int(cl_statx_of(AT_FDCWD, path(name), 0, UInt32(CL_STATX_MODE), &status)) }
        note("mode " + String(status.mode, radix: 8))
    }

    /// Lets user 1 read.
    fileprivate func setACL(_ name: String) {
        let list: [UInt8] =
            [2, 0, 0, 0] + [1, 0, 7, 0, 255, 255, 255, 255] + [2, 0, 4, 0, 1, 0, 0, 0]
            + [4, 0, 5, 0, 255, 255, 255, 255] + [16, 0, 5, 0, 255, 255, 255, 255] + [32, 0, 5, 0, 255, 255, 255, 255]
        call("setxattr ACL \(name)") { Int(lsetxattr(path(name), "system.posix_acl_access", list, list.count, 0)) }
    }
}
