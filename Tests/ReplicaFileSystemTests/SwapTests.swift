import CLinux
import Glibc
import ReplicaTestSupport
import Testing

@testable import ReplicaFileSystem
@testable import ReplicaModel

/// A user who may rename in the mount can exchange the target of the daemon's own calls at any moment: for a symlink to
/// a foreign folder, or for another folder.
@Suite struct SwapTests {
    private static let tries = 4000

    /// The calls by which a change of file `number` in a folder shows.
    private static func calls(_ number: Int, _ folder: PresentedItem, _ file: PresentedItem) -> [PresentedCall] {
        let (name, fresh) = (FileName("f\(number % 20)"), FileName("new\(number)"))
        return [
            .makeFile(FileName("file\(number)"), in: folder), .makeFolder(FileName("folder\(number)"), in: folder),
            .makeSymlink(FileName("link\(number)"), in: folder), .touchContent(file, size: 1), .touchStatus(file),
            .rename(name, in: folder, to: fresh, into: folder), .rename(fresh, in: folder, to: name, into: folder),
            .remove(FileName("gone\(number % 20)"), in: folder, isFolder: false),
            .remove(FileName("emptied\(number % 20)"), in: folder, isFolder: true),
        ]
    }

    private static func fill(_ folder: String) {
        mkdir(folder, 0o755)
        for number in 0..<20 {
            writeFile(folder + "/f\(number)", "precious")
            writeFile(folder + "/gone\(number)", "precious")
            mkdir(folder + "/emptied\(number)", 0o755)
        }
    }

    private static func item(_ path: [String], below root: String) -> PresentedItem {
        let number = status(([root] + path).joined(separator: "/"))?.st_ino ?? 0
        return PresentedItem(path: path.map { FileName($0) }, number: ItemNumber(UInt64(number)))
    }

    /// Runs the calls on files of `d/sub` with `d/other` in its place every other moment.
    private static func race(_ place: TestPlace, against victim: String, _ checks: Checks) {
        let root = place.plain
        fill(root + "/d/sub")
        let folder = item(["d", "sub"], below: root)
        let files = (0..<20).map { item(["d", "sub", "f\($0)"], below: root) }
        let before = portrait(of: victim)
        let top = checks.call(open(root, O_RDONLY | O_DIRECTORY))
        let swapper = Swapper([(root + "/d/sub", root + "/d/other")])
        var made: Set<Int> = []
        for number in 0..<tries {
            if number == 0 { checks.expect(swapper.hasSwapped(10), "swaps") }
            for (index, call) in calls(number, folder, files[number % 20]).enumerated() where call.make(in: top) {
                made.insert(index)
            }
        }
        checks.expect(swapper.hasSwapped(100), "only \(swapper.swaps) swaps")
        swapper.end()
        close(top)
        checks.equal(made.count, 9, "kinds of calls that met what they meant")
        checks.equal(portrait(of: victim), before)
    }

    @Test func noCallFollowsASymlink() async throws {
        let checks = Checks()
        try await onThread {
            let place = try TestPlace()
            mkdir(place.plain + "/d", 0o755)
            Self.fill(place.base + "/victim")
            symlink(place.base + "/victim", place.plain + "/d/other")
            Self.race(place, against: place.base + "/victim", checks)
        }
        #expect(checks.failures == [])
    }

    @Test func noCallUsesAReplacedFolder() async throws {
        let checks = Checks()
        try await onThread {
            let place = try TestPlace()
            mkdir(place.plain + "/d", 0o755)
            Self.fill(place.plain + "/d/other")
            // It stands in both places, so it is looked at under a third name.
            let victim = open(place.plain + "/d/other", O_RDONLY | O_DIRECTORY)
            Self.race(place, against: "/proc/self/fd/\(victim)/", checks)
            close(victim)
        }
        #expect(checks.failures == [])
    }

    @Test func theRootOfTheMountIsChecked() throws {
        let place = try TestPlace()
        writeFile(place.plain + "/f", "text")
        let top = open(place.plain, O_RDONLY | O_DIRECTORY)
        defer { close(top) }
        let root = Self.item([], below: place.plain)
        let another = PresentedItem(path: [], number: ItemNumber(root.number.rawValue + 1))
        #expect(!PresentedCall.remove(FileName("f"), in: another, isFolder: false).make(in: top))
        #expect(!PresentedCall.touchStatus(another).make(in: top))
        // A folder is cut by nothing, whatever its number is.
        #expect(!PresentedCall.touchContent(root, size: 0).make(in: top))
        #expect(PresentedCall.touchStatus(root).make(in: top))
        #expect(PresentedCall.remove(FileName("f"), in: root, isFolder: false).make(in: top))
    }

    /// The same through a mount and from a store: its changes arrive, and only there.
    @Test func storeChangesReachNothingElse() async throws {
        let store = MemoryStore()
        store.makeFolder("d")
        store.makeFolder("d/sub")
        for number in 0..<20 {
            for name in ["f", "gone", "moved", "touched"] { store.write("old", to: "d/sub/\(name)\(number)") }
        }
        // What the swapper does to the names stays here: they never settle.
        try await withDomain(store, settle: 3600) { mounted, checks in
            let victim = mounted.place.base + "/victim"
            mkdir(victim, 0o700)
            for number in 0..<20 {
                for name in ["f", "gone", "moved", "touched"] { writeFile(victim + "/\(name)\(number)", "precious") }
            }
            let before = portrait(of: victim)
            let sub = mounted.mount + "/d/sub"
            checks.expect(blockUntil { names(in: sub).count == 80 }, "listed")
            for name in names(in: sub) { checks.equal(readFile(sub + "/" + name), "old") }
            let folder = checks.call(open(sub, O_RDONLY | O_DIRECTORY))
            checks.call(symlink(victim, mounted.mount + "/d/other"))
            let swapper = Swapper([(sub, mounted.mount + "/d/other")])
            for round in 0..<20 {
                store.write("newer \(round)", to: "d/sub/f\(round)")
                store.delete("d/sub/gone\(round)")
                store.move("d/sub/moved\(round)", to: "d/sub/there\(round)")
                store.update("d/sub/touched\(round)") { $0.mode = 0o640 }
                store.write("fresh", to: "d/sub/fresh\(round)")
                store.makeFolder("d/sub/folder\(round)")
                store.makeSymlink("d/sub/link\(round)", to: "f1")
                store.signal()
                let here = "/proc/self/fd/\(folder)"
                checks.expect(blockUntil { status(here + "/link\(round)") != nil }, "link \(round)")
                checks.expect(blockUntil { readFile(here + "/f\(round)") == "newer \(round)" }, "content \(round)")
            }
            swapper.end()
            checks.expect(swapper.hasSwapped(20), "only \(swapper.swaps) swaps")
            checks.equal(portrait(of: victim), before)
            // Deletions wait for a moment of quiet.
            let left = { names(in: "/proc/self/fd/\(folder)/").count }
            checks.expect(blockUntil { left() == 120 }, "\(left()) are left")
            close(folder)
        }
    }

    /// A call of the daemon's own that arrives where nothing waits for it does nothing.
    @Test func ownCallsElsewhereAreRefused() async throws {
        try await withMount { mounted, checks in
            let path = mounted.mount + "/f"
            checks.expect(writeFile(path, "text"), "write")
            checks.call(mkdir(mounted.mount + "/d", 0o755))
            var elsewhere = Presentations()
            guard let ticket = elsewhere.add(ItemPlace(folder: .root, name: FileName("f")), { _ in .success(nil) })
            else { return checks.expect(false, "no ticket") }
            mounted.fileSystem.ownCalls.enter(gettid(), ticket)
            checks.refused(unlink(path), ENOENT)
            checks.refused(rmdir(mounted.mount + "/d"), ENOENT)
            checks.refused(rename(path, mounted.mount + "/g"), ENOENT)
            checks.refused(truncate(path, 0), ENOENT)
            checks.refused(chmod(path, 0o777), ENOENT)
            checks.refused(utimensat(AT_FDCWD, path, nil, 0), ENOENT)
            checks.refused(mkdir(mounted.mount + "/e", 0o755), ENOENT)
            checks.refused(symlink(".", mounted.mount + "/e"), ENOENT)
            checks.refused(mknod(mounted.mount + "/e", S_IFREG | 0o600, 0), ENOENT)
            checks.refused(link(path, mounted.mount + "/e"), ENOENT)
            mounted.fileSystem.ownCalls.leave(gettid())
            checks.equal(names(in: mounted.tree), ["d", "f"])
            checks.equal(readFile(mounted.tree + "/f"), "text")
            checks.equal(status(path)?.st_mode, S_IFREG | 0o644)
        }
    }
}
