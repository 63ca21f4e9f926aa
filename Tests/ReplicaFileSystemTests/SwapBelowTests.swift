import CLinux
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

/// A user who had a folder open before it became part of a domain can still rename in the backing tree. Root's calls on
/// the mount, and the engine's calls as root, must not reach another file through a symlink that exists there for a
/// moment.
@Suite struct SwapBelowTests {
    private static let user: UInt32 = 4711

    /// A folder of root's alone, with a file and a folder in it that symlinks will lead to.
    private static func makeVictim(_ place: TestPlace) -> String {
        let victim = place.base + "/victim"
        mkdir(victim, 0o700)
        writeFile(victim + "/file", "precious")
        chmod(victim + "/file", 0o600)
        mkdir(victim + "/folder", 0o700)
        return victim
    }

    /// The folder `d` of the mount becomes a user's, who keeps it open below and has a symlink beside each name.
    private static func giveAway(
        _ mount: String, _ tree: String, mode: mode_t, _ names: [String], _ target: String, _ checks: Checks
    ) -> Int32 {
        checks.call(chown(mount + "/d", user, user))
        checks.call(chmod(mount + "/d", mode))
        let below = checks.call(open(tree + "/d", O_RDONLY | O_DIRECTORY))
        for name in names {
            checks.call(symlinkat(target, below, "link-" + name))
            checks.call(fchownat(below, "link-" + name, user, user, AT_SYMLINK_NOFOLLOW))
        }
        return below
    }

    private static func swapper(_ names: [String], _ below: Int32) -> Swapper {
        Swapper(names.map { ($0, "link-" + $0) }, in: below, as: user)
    }

    @Test func callsByRootReachOnlyTheirFile() async throws {
        try await withMount { mounted, checks in
            let victim = Self.makeVictim(mounted.place)
            let before = portrait(of: victim)
            let folder = mounted.mount + "/d"
            let names = (0..<20).map { "f\($0)" }
            checks.call(mkdir(folder, 0o755))
            for name in names { checks.expect(writeFile(folder + "/" + name, "text"), "write") }
            let below = Self.giveAway(mounted.mount, mounted.tree, mode: 0o755, names, victim + "/file", checks)
            let swapper = Self.swapper(names, below)
            let now = timespec(tv_sec: 1, tv_nsec: 2)
            var done = 0
            for round in 0..<100 {
                checks.expect(swapper.hasSwapped(round), "only \(swapper.swaps) swaps")
                for name in names {
                    let path = folder + "/" + name
                    // Each fails while the file is not there.
                    if chmod(path, round % 2 == 0 ? 0o666 : 0o4777) == 0 { done += 1 }
                    _ = chown(path, UInt32(round % 3), UInt32(round % 5))
                    _ = utimensat(AT_FDCWD, path, [now, now], 0)
                    _ = setxattr(path, "user.mark", "x", 1, 0)
                    _ = setxattr(path, "trusted.mark", "x", 1, 0)
                    _ = truncate(path, round % 3)
                    let file = open(path, O_WRONLY | (round % 2 == 0 ? O_TRUNC : 0))
                    if file >= 0 {
                        _ = fchmod(file, 0o606)
                        close(file)
                    }
                }
            }
            swapper.end()
            close(below)
            checks.expect(done > 0, "never met")
            checks.equal(portrait(of: victim), before)
        }
    }

    /// What others make there gets its owner and mode by a call of its own.
    @Test func createdEntriesAreNotReplaced() async throws {
        try await withMount { mounted, checks in
            let victim = Self.makeVictim(mounted.place)
            let before = portrait(of: victim)
            let made = mounted.mount + "/d/made"
            checks.call(mkdir(mounted.mount + "/d", 0o755))
            let target = victim + "/folder"
            let below = Self.giveAway(mounted.mount, mounted.tree, mode: 0o2777, ["made"], target, checks)
            let swapper = Self.swapper(["made"], below)
            setfsuid(Self.user + 1)
            var done = 0
            for _ in 0..<20_000 where done < 1000 {
                if mkdir(made, 0o777) == 0 { done += 1 }
                // Whatever is there now, the next one is to be made anew.
                while rmdir(made) != 0, errno != ENOENT {
                    unlinkat(below, "made", 0)
                    mkdirat(below, "made", 0o777)
                }
                unlinkat(below, "made", 0)
                unlinkat(below, "made", AT_REMOVEDIR)
                unlinkat(below, "link-made", AT_REMOVEDIR)
                symlinkat(target, below, "link-made")
            }
            setfsuid(0)
            checks.expect(done > 0, "nothing was made")
            swapper.end()
            close(below)
            checks.equal(portrait(of: victim), before)
        }
    }

    /// Modes, dates and attributes that come from the store.
    @Test func downloadsReachOnlyTheirFile() async throws {
        let store = MemoryStore()
        store.makeFolder("d")
        let names = (0..<10).map { "f\($0)" }
        for name in names { store.write("text", to: "d/" + name) }
        try await withDomain(store) { mounted, checks in
            let victim = Self.makeVictim(mounted.place)
            let before = portrait(of: victim)
            for name in names {
                checks.expect(blockUntil { readFile(mounted.mount + "/d/" + name) == "text" }, "listed")
            }
            let below = Self.giveAway(mounted.mount, mounted.tree, mode: 0o755, names, victim + "/file", checks)
            let swapper = Self.swapper(names, below)
            for round in 0..<60 {
                for name in names {
                    store.update("d/" + name) { metadata in
                        metadata.mode = round % 2 == 0 ? 0o666 : 0o640
                        metadata.extendedAttributes = ["user.round": Array(String(round).utf8)]
                    }
                }
                store.signal()
                checks.expect(swapper.hasSwapped(20 * round), "only \(swapper.swaps) swaps")
                usleep(20_000)
            }
            swapper.end()
            checks.equal(portrait(of: victim), before)
            close(below)
        }
    }
}
