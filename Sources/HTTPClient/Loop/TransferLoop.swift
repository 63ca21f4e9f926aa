internal import CCurl
internal import Threads

/// The thread of all transfers. Unchecked: only the thread uses `multi` and `running`; `curl_multi_wakeup` is safe from
/// other threads, and is only called while the thread is running.
final class TransferLoop: @unchecked Sendable {
    typealias Ending = @Sendable (Result<HTTPAnswer, HTTPFailure>) -> Void

    private struct Waiting {
        var number: UInt64
        var request: HTTPRequest
        var ending: Ending
    }

    private struct Inbox {
        var count: UInt64 = 0
        var added: [Waiting] = []
        var cancelled: [UInt64] = []
        /// Transfers that were cancelled before they began.
        var early: Set<UInt64> = []
        /// Transfers that are queued or running.
        var known: Set<UInt64> = []
        var isClosed = false
        var hasEnded = false
    }

    private let multi: UnsafeMutableRawPointer
    private let setting: Setting
    private let inbox = Locked(Inbox())
    private var running: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    /// Once per process, before any thread uses it.
    private static let isReady = ccurl_begin() == CURLE_OK

    /// The common settings of all transfers.
    struct Setting: Sendable {
        var authorities: String?
        var socket: String?
    }

    init(_ setting: Setting, connections: Int) throws(HTTPFailure) {
        guard Self.isReady, let multi = curl_multi_init() else { throw .unreachable("libcurl can't be used") }
        self.multi = multi
        self.setting = setting
        _ = ccurl_limit_connections(multi, connections)
        // The thread retains this object until it ends, which close() causes.
        guard let thread = Thread(name: "http", { self.run() }) else {
            curl_multi_cleanup(multi)
            throw .unreachable("no thread could be created")
        }
        thread.detach()
    }

    func freshNumber() -> UInt64 {
        inbox.withLock { inbox in
            inbox.count += 1
            return inbox.count
        }
    }

    func add(_ number: UInt64, _ request: HTTPRequest, _ ending: @escaping Ending) {
        let isTaken = inbox.withLock { inbox in
            guard !inbox.isClosed, inbox.early.remove(number) == nil else { return false }
            inbox.known.insert(number)
            inbox.added.append(Waiting(number: number, request: request, ending: ending))
            wake(inbox)
            return true
        }
        if !isTaken { ending(.failure(.cancelled)) }
    }

    func cancel(_ number: UInt64) {
        inbox.withLock { inbox in
            guard inbox.known.contains(number) else {
                // Not added yet, or already removed: numbers are not reused, and only the last ones matter.
                if inbox.early.count > 1_000 { inbox.early.removeAll() }
                inbox.early.insert(number)
                return
            }
            inbox.cancelled.append(number)
            wake(inbox)
        }
    }

    func close() {
        inbox.withLock { inbox in
            inbox.isClosed = true
            wake(inbox)
        }
    }

    /// With the lock held, because the thread frees the object that this wakes.
    private func wake(_ inbox: Inbox) {
        if !inbox.hasEnded { curl_multi_wakeup(multi) }
    }

    // MARK: The thread

    private func run() {
        while takeInbox() {
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
            endFinished()
            // Woken by the network, by its own timers and by wake(): the timeout is only a limit.
            _ = ccurl_poll(multi, 60_000)
        }
        inbox.withLock { $0.hasEnded = true }
        for transfer in running.values { finish(transfer, .failure(.cancelled)) }
        curl_multi_cleanup(multi)
    }

    /// - Returns: False when the loop has to end.
    private func takeInbox() -> Bool {
        let (added, cancelled, isClosed) = inbox.withLock { inbox in
            defer { (inbox.added, inbox.cancelled) = ([], []) }
            return (inbox.added, inbox.cancelled, inbox.isClosed)
        }
        for waiting in added {
            guard let transfer = CurlTransfer(waiting.number, waiting.request, setting, waiting.ending) else {
                _ = inbox.withLock { $0.known.remove(waiting.number) }
                waiting.ending(.failure(.unreachable("no memory is left")))
                continue
            }
            running[transfer.handle] = transfer
            curl_multi_add_handle(multi, transfer.handle)
        }
        for number in cancelled {
            if let transfer = running.values.first(where: { $0.number == number }) {
                finish(transfer, .failure(.cancelled))
            }
        }
        return !isClosed
    }

    private func endFinished() {
        var code = CURLE_OK
        while let handle = ccurl_next_ended(multi, &code) {
            if let transfer = running[handle] { finish(transfer, transfer.outcome(code)) }
        }
    }

    private func finish(_ transfer: CurlTransfer, _ outcome: Result<HTTPAnswer, HTTPFailure>) {
        running[transfer.handle] = nil
        curl_multi_remove_handle(multi, transfer.handle)
        transfer.free()
        _ = inbox.withLock { $0.known.remove(transfer.number) }
        transfer.ending(outcome)
    }
}
