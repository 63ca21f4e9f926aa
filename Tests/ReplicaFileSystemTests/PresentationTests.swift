import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

/// Changes in the store are visible on the mount: to programs with cached data, and to inotify watchers.
@Suite struct PresentationTests {
    @Test func watchersSeeChangesInTheStore() async throws {
        let store = MemoryStore()
        store.write("base", to: "old")
        try await withDomain(store) { mounted, checks in
            checks.expect(blockUntil { names(in: mounted.mount) == ["old"] }, "listed")
            checks.equal(readFile(mounted.mount + "/old"), "base")
            checks.expect(status(mounted.mount + "/new") == nil, "absent, and known to be")
            let watch = Watch(mounted.mount)

            store.write("fresh", to: "new")
            store.makeFolder("folder")
            store.signal()
            checks.expect(watch.sees(IN_CREATE, "new"), "create")
            checks.expect(watch.sees(IN_CREATE, "folder"), "mkdir")
            checks.equal(readFile(mounted.mount + "/new"), "fresh")

            store.write("changed", to: "old")
            store.signal()
            checks.expect(watch.sees(IN_MODIFY, "old"), "modify")
            checks.expect(blockUntil { readFile(mounted.mount + "/old") == "changed" }, "content")
            checks.equal(status(mounted.mount + "/old")?.st_size, 7)

            store.move("new", to: "moved")
            store.signal()
            checks.expect(watch.sees(IN_MOVED_FROM, "new") && watch.sees(IN_MOVED_TO, "moved"), "move")
            checks.expect(status(mounted.mount + "/new") == nil, "the old name is gone")

            store.delete("moved")
            store.signal()
            checks.expect(watch.sees(IN_DELETE, "moved"), "delete")
            checks.expect(status(mounted.mount + "/moved") == nil, "the name is gone")
            watch.end()
            checks.equal(names(in: mounted.tree), ["folder", "old"])
        }
    }

    @Test func anOpenFileKeepsTheOldBytes() async throws {
        let store = MemoryStore()
        store.write("first", to: "f")
        try await withDomain(store) { mounted, checks in
            checks.expect(blockUntil { readFile(mounted.mount + "/f") == "first" }, "listed")
            let file = checks.call(open(mounted.mount + "/f", O_RDONLY))
            let number = status(mounted.mount + "/f")?.st_ino
            store.write("second edition", to: "f")
            store.signal()
            checks.expect(blockUntil { readFile(mounted.mount + "/f") == "second edition" }, "new opens see the new")
            var bytes = [UInt8](repeating: 0, count: 50)
            let count = pread(file, &bytes, 50, 0)
            checks.equal(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self), "first")
            checks.equal(status(mounted.mount + "/f")?.st_ino, number)
            checks.call(close(file))
        }
    }

    /// A program's request holds a folder's lock while it waits for the store, and the store's next change in that
    /// folder needs the lock: the change goes on without the mount.
    @Test func aLockedFolderBlocksNothing() async throws {
        let store = MemoryStore()
        store.makeFolder("d")
        store.write("x", to: "d/x")
        try await withDomain(store) { mounted, checks in
            checks.expect(blockUntil { status(mounted.mount + "/d") != nil }, "listed")
            let late = mounted.tree + "/late"
            let asked = Flag()
            store.setHooks(before: { call in
                guard call.method == .enumerateItems else { return }
                asked.raise()
                let end = ContinuousClock.now + eventLimit
                while status(late) == nil, ContinuousClock.now < end {
                    try? await Task.sleep(for: .milliseconds(10))  // Cancelled, it polls without a pause.
                }
            })
            let removed = Flag()
            startThread {
                checks.refused(rmdir(mounted.mount + "/d"), ENOTEMPTY)
                removed.raise()
            }
            asked.wait()
            store.write("came", to: "late")
            store.signal()
            checks.expect(blockUntil { status(late) != nil }, "applied")
            removed.wait()
            store.setHooks()
            checks.equal(readFile(mounted.mount + "/late"), "came")
        }
    }
}

/// An inotify watch of one folder, with all that it saw.
private final class Watch {
    private let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    private var seen: [(mask: UInt32, name: String)] = []

    init(_ path: String) {
        inotify_add_watch(descriptor, path, 0xFFF)
    }

    func end() { close(descriptor) }

    /// Waits until an event of this kind came for `name`.
    func sees(_ mask: Int32, _ name: String) -> Bool {
        blockUntil {
            read()
            return seen.contains { $0.mask & UInt32(mask) != 0 && $0.name == name }
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        var offset = 0
        while offset + 16 <= count {
            let (mask, length) = buffer.withUnsafeBytes { bytes in
                (
                    bytes.load(fromByteOffset: offset + 4, as: UInt32.self),
                    bytes.load(fromByteOffset: offset + 12, as: UInt32.self)
                )
            }
            let name = buffer[(offset + 16)..<(offset + 16 + Int(length))].prefix { $0 != 0 }
            seen.append((mask, String(decoding: name, as: UTF8.self)))
            offset += 16 + Int(length)
        }
    }
}
