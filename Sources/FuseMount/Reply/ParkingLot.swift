internal import Threads

/// All requests of a session that were parked and are not answered yet.
final class ParkingLot: Sendable {
    private struct Contents {
        var requests: [UInt: ParkedRequest] = [:]
        var nextKey: UInt = 1
        /// Parked or taken, and not answered.
        var unanswered = 0
        var isClosed = false
    }

    private let contents = Gate(Contents())

    /// Counts and keeps a request. Nil if the session is ending: the request must be answered immediately.
    func enter(_ request: ParkedRequest) -> UInt? {
        contents.withLock { contents in
            guard !contents.isClosed else { return nil }
            let key = contents.nextKey
            contents.nextKey += 1
            contents.requests[key] = request
            contents.unanswered += 1
            return key
        }
    }

    func request(_ key: UInt) -> ParkedRequest? {
        contents.withLock { $0.requests[key] }
    }

    /// The request was taken to be answered.
    func leave(_ key: UInt) {
        contents.withLock { _ = $0.requests.removeValue(forKey: key) }
    }

    /// A reply that was parked is answered.
    func answered() {
        contents.withLock { $0.unanswered -= 1 }
    }

    var isClosed: Bool {
        contents.withLock { $0.isClosed }
    }

    /// Answers ENOTCONN to all that are parked and waits until those taken are answered too.
    func close() {
        let rest = contents.withLock { contents in
            contents.isClosed = true
            return Array(contents.requests.values)
        }
        for request in rest { request.refuse() }
        contents.wait { $0.unanswered == 0 }
    }
}
