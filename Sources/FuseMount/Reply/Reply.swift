internal import CFuse
internal import Glibc
public import SystemPackage

/// The answer to a request. Answering consumes it; if it is dropped, it answers EIO.
///
/// Each kind (`EntryReply`, `EmptyReply` and so on) has its methods in an extension; errors are answered in the same
/// way for all. A reply stays on its thread; ``park()`` returns one that can be passed to another thread.
/// Answers to callers that are gone are silently dropped.
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

    /// Parks the reply, so that another thread or task can answer it later. No thread is blocked meanwhile.
    public consuming func park() -> ParkedReply<Answer> {
        let parked = ParkedReply<Answer>(ParkedRequest(request: request, lot: lot))
        finish()
        return parked
    }

    /// Whether a signal has interrupted the caller; for work that continues without parking.
    public var isInterrupted: Bool {
        fuse_req_interrupted(request) != 0
    }

    /// Ends the reply's life without a further answer.
    consuming func finish() {
        if wasParked { lot.takeUnretainedValue().answered() }
        discard self
    }
}
