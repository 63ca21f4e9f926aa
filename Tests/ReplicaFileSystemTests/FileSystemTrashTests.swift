import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

/// The trash as a file manager uses it, over a store that keeps a trash.
@Suite struct FileSystemTrashTests {
    @Test func gioTrashesRestoresAndEmpties() async throws {
        let store = MemoryStore()
        store.keepsTrash = true
        let item = store.write("one", to: "d/x")
        store.write("two", to: "folder/y")
        try await withDomain(store) { mounted, checks in
            checks.expect(blockUntil { readFile(mounted.mount + "/d/x") == "one" }, "listed")
            session("gio trash d/x folder", mounted, checks)
            let home = mounted.mount + "/.Trash-\(geteuid())"
            checks.equal(names(in: home + "/files"), ["folder", "x"])
            checks.equal(names(in: home + "/info"), ["folder.trashinfo", "x.trashinfo"])
            checks.expect(blockUntil { store.entries.keys.sorted() == ["d"] }, "trashed: \(store.entries.keys)")
            checks.equal(store.content(of: item.identifier), Array("one".utf8))
            checks.equal(Set(store.calls(of: .modifyItem).map(\.template?.parent)), [.trash])

            session(
                """
                address() { gio trash --list | sed -n 's,\t.*/x$,,p' | grep .; }
                until address; do sleep 0.1; done
                gio trash --restore "$(address)"
                """, mounted, checks)
            checks.equal(readFile(mounted.mount + "/d/x"), "one")
            checks.expect(blockUntil { store.item(at: "d/x")?.identifier == item.identifier }, "restored")
            checks.equal(store.item(at: "d/x")?.version.content, item.version.content)

            // GVfs moves what it deletes to a folder of its own first.
            session(
                "gio trash --empty; until [ -z \"$(ls -A .Trash-*/files .Trash-*/expunged | grep -v :)\" ]; do sleep 0.1; done",
                mounted, checks)
            checks.expect(blockUntil { store.calls(of: .deleteItem).count == 2 }, "deleted")
            checks.equal(store.entries.keys.sorted(), ["d", "d/x"])
            checks.expect(store.calls(of: .createItem).isEmpty, "made: \(store.calls(of: .createItem))")
        }
    }

    /// Runs a script with a GVfs of its own, all of which is gone when it ends.
    private func session(_ script: String, _ mounted: MountedDomain, _ checks: Checks, line: Int = #line) {
        shell(
            """
            export HOME=\(mounted.place.base) GVFS_DISABLE_FUSE=1
            export XDG_DATA_HOME=$HOME/share XDG_RUNTIME_DIR=$HOME/run
            mkdir -p -m 700 "$XDG_RUNTIME_DIR"
            cat >"$HOME/gio" <<'END'
            \(script)
            END
            unshare --pid --fork --kill-child --mount-proc dbus-run-session -- sh -e "$HOME/gio"
            """, in: mounted.place, checks, line: line)
    }
}
