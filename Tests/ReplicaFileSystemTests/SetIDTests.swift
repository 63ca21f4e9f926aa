import CLinux
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

/// No user gets the rights of a local owner through the store.
@Suite struct SetIDTests {
    private static func mode(_ path: String) -> mode_t? { status(path).map { $0.st_mode & 0o7777 } }

    @Test func setIDBitsAreNotTakenFromTheStore() async throws {
        let store = MemoryStore()
        for name in ["f", "open"] { store.write("text", to: name) }
        store.makeFolder("d")
        for name in ["f", "d"] {
            store.update(name) { metadata in
                metadata.mode = 0o6755
                metadata.extendedAttributes = ["user.a": [1], "trusted.a": [2], "security.a": [3]]
            }
        }
        try await withDomain(store) { mounted, checks in
            checks.expect(blockUntil { readFile(mounted.mount + "/f") == "text" }, "listed")
            for name in ["f", "d"] {
                for place in [mounted.mount, mounted.tree] { checks.equal(Self.mode(place + "/" + name), 0o755) }
                checks.refused(lgetxattr(mounted.tree + "/" + name, "trusted.a", nil, 0), ENODATA)
                checks.refused(lgetxattr(mounted.tree + "/" + name, "security.a", nil, 0), ENODATA)
            }
            // Also with a change, and with content that the kernel holds open.
            checks.equal(readFile(mounted.mount + "/open"), "text")
            let file = checks.call(open(mounted.mount + "/open", O_RDONLY))
            store.write("newer", to: "open")
            store.update("open") { $0.mode = 0o4711 }
            store.signal()
            checks.expect(blockUntil { readFile(mounted.mount + "/open") == "newer" }, "content")
            checks.expect(blockUntil { Self.mode(mounted.mount + "/open") == 0o711 }, "mode")
            close(file)
        }
    }

    @Test func localSetIDBitsEndWithNewContent() async throws {
        let store = MemoryStore()
        try await withDomain(store) { mounted, checks in
            let path = mounted.mount + "/f"
            checks.expect(writeFile(path, "local"), "write")
            checks.call(chmod(path, 0o4755))
            checks.expect(blockUntil { store.item(at: "f")?.metadata.mode == 0o755 }, "sent without")
            // What can't be read just now is asked for again.
            checks.expect(blockUntil { (try? mounted.domain.report().pending) == 0 }, "in step")
            checks.equal(Self.mode(path), 0o4755)
            // Something else of it changes in the store: no edit comes of that, and the bit stays.
            store.clearCalls()
            store.update("f") { $0.tags = "red" }
            store.signal()
            checks.expect(blockUntil { lgetxattr(path, "user.xdg.tags", nil, 0) == 3 }, "tags")
            checks.equal(Self.mode(path), 0o4755)
            store.update("f") { $0.tags = "green" }
            store.signal()
            checks.expect(blockUntil { lgetxattr(path, "user.xdg.tags", nil, 0) == 5 }, "tags again")
            checks.equal(store.calls(of: .modifyItem).count, 0)
            // The store's bytes have no rights, and neither has what it says of the mode.
            store.write("theirs", to: "f")
            store.signal()
            checks.expect(blockUntil { readFile(path) == "theirs" }, "content")
            checks.equal(Self.mode(path), 0o755)
            checks.equal(Self.mode(mounted.tree + "/f"), 0o755)
        }
    }

    /// A placeholder that somebody makes set-user-ID gets its bytes from the store.
    @Test func fetchedFilesHaveNoSetIDBits() async throws {
        let store = MemoryStore()
        store.write("theirs", to: "f")
        try await withDomain(store) { mounted, checks in
            let path = mounted.mount + "/f"
            checks.expect(blockUntil { status(path) != nil }, "listed")
            checks.call(chmod(path, 0o6755))
            checks.equal(readFile(path), "theirs")
            checks.equal(Self.mode(mounted.tree + "/f"), 0o755)
            checks.expect(blockUntil { Self.mode(path) == 0o755 }, "mode")
        }
    }

    @Test func trustedSetIDBitsAreSynced() async throws {
        let store = MemoryStore()
        store.write("text", to: "f")
        store.update("f") { $0.mode = 0o4755 }
        try await withDomain(store, trustsSetID: true) { mounted, checks in
            let path = mounted.mount + "/f"
            checks.expect(blockUntil { readFile(path) == "text" }, "listed")
            checks.equal(Self.mode(path), 0o4755)
            checks.call(chmod(path, 0o2755))
            checks.expect(blockUntil { store.item(at: "f")?.metadata.mode == 0o2755 }, "sent")
        }
    }
}
