import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

/// Statements of CONFORMANCE.md about mkdir(2), through a mount.
@Suite struct FolderStatementTests {
    @Test func statement45_aUsersMkdirIsOneFolderCreate() async throws {
        let store = MemoryStore()
        try await withDomain(store) { mounted, checks in
            checks.expect(eventually { names(in: mounted.mount).isEmpty }, "the root is listed")
            store.clearCalls()
            checks.call(mkdir(mounted.mount + "/made", 0o755))
            checks.expect(eventually { (try? mounted.domain.report().pending) == 0 }, "in step")
            checks.equal(store.calls(of: .createItem).map(\.template?.kind), [.folder])
            checks.equal(store.calls(of: .createItem).map(\.template?.filename), [FileName("made")])
            checks.expect(store.calls(of: .modifyItem).isEmpty && store.calls(of: .deleteItem).isEmpty, "one call")
        }
    }
}
