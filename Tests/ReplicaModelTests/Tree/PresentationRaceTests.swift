import Testing
import Threads

@testable import ReplicaModel

/// Two tasks of the engine that change one place at the same time, through the mount.
@Suite struct PresentationRaceTests {
    private let key = ItemPlace(folder: .root, name: FileName("name"))

    @Test func onlyTheCallersChangeIsWithdrawn() {
        var changes = Presentations()
        let first = changes.add(key) { _ in .success(nil) }
        #expect(changes.add(key) { _ in .success(nil) } == nil)
        #expect(first.map { changes.take($0, key) != nil } == true)
        let second = changes.add(key) { _ in .success(nil) }
        // An abandoned call arrives late.
        #expect(first.map { changes.take($0, key) == nil } == true)
        #expect(first.map { changes.withdraw($0, key) } == false)
        #expect(second.map { changes.withdraw($0, key) } == true)
        #expect(second.map { changes.take($0, key) == nil } == true)
    }

    /// The second is in flight when the request of the first returns.
    @Test func bothChangesAreMadeOnce() throws {
        let bench = try Bench()
        let replica = bench.replica
        let presenter = HeldPresenter(replica: replica, key: key)
        replica.setPresenter(presenter)
        defer { replica.setPresenter(nil) }
        let made = Locked<[Int]>([])
        let second = presenter.second
        let thread = Thread {
            second.wait()
            try? replica.present(.makeFile(key.name, in: presenter.root), isSeen: true) { _ in
                made.withLock { $0.append(2) }
                return nil
            }
        }
        try replica.present(.makeFolder(key.name, in: presenter.root), isSeen: true) { _ in
            made.withLock { $0.append(1) }
            return nil
        }
        presenter.firstEnded.open()
        thread?.join()
        #expect(made.withLock { $0 } == [1, 2])
    }
}

/// Makes the requests of both calls, the second's when the first has ended.
private final class HeldPresenter: Presenter {
    let root = PresentedItem(path: [], number: .root)
    /// The first call's request was answered.
    let second = Latch()
    let firstEnded = Latch()
    private let secondWaits = Latch()
    private let replica: Replica
    private let key: ItemPlace

    init(replica: Replica, key: ItemPlace) {
        (self.replica, self.key) = (replica, key)
    }

    func present(_ call: PresentedCall, _ ticket: PresentationTicket) -> Bool {
        if call == .makeFolder(key.name, in: root) {
            perform(ticket)
            second.open()
            secondWaits.wait()
        } else {
            secondWaits.open()
            firstEnded.wait()
            perform(ticket)
        }
        return true
    }

    private func perform(_ ticket: PresentationTicket) {
        _ = try? replica.performPresented(ticket, key.name, in: key.folder)
    }

    func invalidate(_ name: FileName, in folder: ItemNumber) {}

    func invalidate(_ number: ItemNumber) {}

    func afterInvalidations(_ body: @escaping @Sendable () -> Void) { body() }
}
