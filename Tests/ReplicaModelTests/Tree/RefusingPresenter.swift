import Threads

@testable import ReplicaModel

/// Makes no call, like when a folder's lock is held or its path has changed.
final class RefusingPresenter: Presenter {
    let calls = Locked(0)
    let forgotten = Locked<[ItemPlace]>([])

    /// What a call does after all.
    let onCall = Locked<(@Sendable (PresentationTicket) -> Void)?>(nil)
    /// Whether the kernel is told only by ``tell()``.
    let isLate = Locked(false)
    private let waitingBodies = Locked<[@Sendable () -> Void]>([])

    func present(_ call: PresentedCall, _ ticket: PresentationTicket) -> Bool {
        calls.withLock { $0 += 1 }
        let onCall = onCall.withLock { $0 }
        onCall?(ticket)
        return onCall != nil
    }

    func invalidate(_ name: FileName, in folder: ItemNumber) {
        forgotten.withLock { $0.append(ItemPlace(folder: folder, name: name)) }
    }

    func invalidate(_ number: ItemNumber) {}

    func afterInvalidations(_ body: @escaping @Sendable () -> Void) {
        isLate.withLock { $0 } ? waitingBodies.withLock { $0.append(body) } : body()
    }

    /// How many wait to be told.
    var waiting: Int { waitingBodies.withLock { $0.count } }

    func tell() {
        isLate.withLock { $0 = false }
        for body in waitingBodies.withLock({ $0 }) { body() }
    }
}
