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
    let lot: Unmanaged<ParkingLot>
    /// It was parked, so the lot counts it until it is answered.
    let wasParked: Bool

    init(request: OpaquePointer, lot: Unmanaged<ParkingLot>, wasParked: Bool = false) {
        self.request = request
        self.lot = lot
        self.wasParked = wasParked
    }

    deinit {
        fuse_reply_err(request, EIO)
        if wasParked { lot.takeUnretainedValue().answered() }
    }

    /// Answers an error.
    public consuming func fail(_ error: Errno) {
        fuse_reply_err(request, error.rawValue)
        finish()
    }

    /// Puts the reply aside, so that another thread or a Task may answer it later. No thread waits meanwhile.
    public consuming func park() -> ParkedReply<Answer> {
        let parked = ParkedReply<Answer>(ParkedRequest(request: request, lot: lot))
        finish()
        return parked
    }

    /// Whether the caller was interrupted by a signal so far: for work that goes on without parking.
    public var isInterrupted: Bool {
        fuse_req_interrupted(request) != 0
    }

    /// Ends the reply's life without a further answer.
    consuming func finish() {
        if wasParked { lot.takeUnretainedValue().answered() }
        discard self
    }
}
