internal import CFuse
internal import Glibc
public import SystemPackage

/// The one answer to one request: used up by answering, `EIO` by itself when dropped.
///
/// What can be answered is in the extension of each kind: `EntryReply`, `EmptyReply` and so on. Answering an error is
/// the same for all. A reply belongs to the thread that has it; ``park()`` makes something that may travel.
/// An answer to a caller that is gone is dropped in silence: there is nobody to tell.
public struct Reply<Answer>: ~Copyable {
    let request: OpaquePointer
    /// Where a parked request is counted until it is answered. Nil when it is answered on its worker.
    let parkedIn: Unmanaged<ParkingLot>?
    let lot: Unmanaged<ParkingLot>

    init(request: OpaquePointer, lot: Unmanaged<ParkingLot>, parked: Bool = false) {
        self.request = request
        self.lot = lot
        self.parkedIn = parked ? lot : nil
    }

    deinit {
        fuse_reply_err(request, EIO)
        parkedIn?._withUnsafeGuaranteedRef { $0.answered() }
    }

    /// Answers an error.
    public consuming func fail(_ error: Errno) {
        fuse_reply_err(request, error.rawValue)
        finish()
    }

    /// Puts the reply aside, so that another thread or a Task may answer it later. No thread waits meanwhile.
    public consuming func park() -> ParkedReply<Answer> {
        fatalError()
    }

    /// Ends the reply's life after libfuse has sent the answer.
    consuming func finish() {
        parkedIn?._withUnsafeGuaranteedRef { $0.answered() }
        discard self
    }
}
