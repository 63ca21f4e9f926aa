import Glibc
import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// Renames of names that changed in the store, and of which the kernel has not been told yet.
@Suite struct StaleNameTests {
    /// The kernel moves what it has under the old name. It must not show that under the new one.
    @Test func aRenameOfAStaleNameShowsTheRenamedItem() async throws {
        let store = MemoryStore()
        store.write("first", to: "a")
        store.write("second", to: "y")
        try await withDomain(store) { mounted, checks in
            checks.expect(blockUntil { readFile(mounted.mount + "/a") == "first" }, "listed")
            checks.equal(readFile(mounted.mount + "/y"), "second")
            let replica = mounted.domain.replica
            guard let real = replica.presenter.withLock({ $0 }) else { return checks.expect(false, "mounted") }
            let late = LatePresenter(real)
            replica.setPresenter(late)
            store.move("a", to: "c")
            store.signal()
            checks.expect(blockUntil { readFile(mounted.tree + "/c") == "first" }, "moved")
            store.move("y", to: "a")
            store.signal()
            checks.expect(blockUntil { readFile(mounted.tree + "/a") == "second" }, "moved in its place")

            checks.call(rename(mounted.mount + "/a", mounted.mount + "/b"))
            replica.setPresenter(real)
            late.release()
            checks.equal(readFile(mounted.tree + "/b"), "second")
            checks.expect(blockUntil { readFile(mounted.mount + "/b") == "second" }, "shown where it is")
            checks.expect(blockUntil { readFile(mounted.mount + "/c") == "first" }, "and so is the other")
            checks.expect(blockUntil { names(in: mounted.mount) == ["b", "c"] }, "listed where they are")
        }
    }
}

/// Makes no calls, as when a folder is held by a program, and passes invalidations on only when it is told to.
private final class LatePresenter: Presenter {
    private let real: any Presenter
    private let held = Locked<[@Sendable () -> Void]>([])

    init(_ real: any Presenter) {
        self.real = real
    }

    func present(_ call: PresentedCall, _ ticket: PresentationTicket) -> Bool { false }

    func invalidate(_ name: FileName, in folder: ItemNumber) {
        held.withLock { [real] in $0.append { real.invalidate(name, in: folder) } }
    }

    func invalidate(_ number: ItemNumber) {
        held.withLock { [real] in $0.append { real.invalidate(number) } }
    }

    func afterInvalidations(_ body: @escaping @Sendable () -> Void) {
        held.withLock { [real] in $0.append { real.afterInvalidations(body) } }
    }

    func release() {
        for call in held.withLock({ $0 }) { call() }
    }
}
