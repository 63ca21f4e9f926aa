import Threads

/// Why a request has no usable answer.
enum RequestFailure: Error, Hashable, Sendable {
    /// The server reported a failure.
    case status(SFTPStatus)
    /// There will be no answer.
    case lost(SFTPFailure)
    case cancelled
}

/// A request that was sent. If it returns a handle that the caller no longer wants, the handle is closed.
final class PendingReply: Sendable {
    private let promise = Promise<Result<SFTPReply, RequestFailure>>()
    private let isTaken = Locked(false)
    private let connection: SFTPConnection
    /// Called once when it is over, by any thread.
    private let over: @Sendable () -> Void
    let sent = ContinuousClock.now

    init(_ connection: SFTPConnection, over: @escaping @Sendable () -> Void) {
        self.connection = connection
        self.over = over
    }

    deinit {
        if case .success(.handle(let handle)) = promise.present, !isTaken.withLock({ $0 }) { connection.close(handle) }
    }

    func finish(_ outcome: Result<SFTPReply, RequestFailure>) {
        if promise.fulfil(outcome) { over() }
    }

    private func reply() async throws(RequestFailure) -> SFTPReply {
        guard let outcome = await promise.value() else { throw .cancelled }
        return try outcome.get()
    }

    /// The server violates the protocol: nothing it sends can be trusted any more.
    private func strange() -> RequestFailure {
        let failure = SFTPFailure.unreachable("\(connection.address): the server's answer has the wrong type")
        connection.fail(failure)
        return .lost(failure)
    }

    /// Waits for a success without a result.
    func done() async throws(RequestFailure) {
        guard case .status(let status) = try await reply() else { throw strange() }
        if status.code != .ok { throw .status(status) }
    }

    func attributes() async throws(RequestFailure) -> SFTPAttributes {
        switch try await reply() {
        case .attributes(let attributes): return attributes
        case .status(let status) where status.code != .ok: throw .status(status)
        default: throw strange()
        }
    }

    /// Nil if nothing is there.
    func presentAttributes() async throws(RequestFailure) -> SFTPAttributes? {
        do throws(RequestFailure) { return try await attributes() } catch {
            if case .status(let status) = error, status.code == .noSuchFile { return nil }
            throw error
        }
    }

    func handle() async throws(RequestFailure) -> RemoteHandle {
        switch try await reply() {
        case .handle(let bytes):
            isTaken.withLock { $0 = true }
            return RemoteHandle(bytes, of: connection)
        case .status(let status) where status.code != .ok: throw .status(status)
        default: throw strange()
        }
    }

    /// Nil at the end of the file.
    /// - Parameter most: The number of requested bytes.
    func data(most: Int) async throws(RequestFailure) -> ArraySlice<UInt8>? {
        switch try await reply() {
        case .data(let bytes) where (1...most).contains(bytes.count): return bytes
        case .status(let status) where status.code == .endOfFile: return nil
        case .status(let status) where status.code != .ok: throw .status(status)
        default: throw strange()
        }
    }

    /// Nil at the end of the folder.
    func names() async throws(RequestFailure) -> [SFTPReply.Name]? {
        switch try await reply() {
        case .names(let names) where !names.isEmpty: return names
        case .status(let status) where status.code == .endOfFile: return nil
        case .status(let status) where status.code != .ok: throw .status(status)
        default: throw strange()
        }
    }

    /// The single path in an answer.
    func path() async throws(RequestFailure) -> [UInt8] {
        guard let names = try await names(), names.count == 1, !names[0].bytes.contains(0) else { throw strange() }
        return names[0].bytes
    }

    func extended() async throws(RequestFailure) -> ArraySlice<UInt8> {
        switch try await reply() {
        case .extended(let bytes): return bytes
        case .status(let status) where status.code != .ok: throw .status(status)
        default: throw strange()
        }
    }
}

/// An open file or folder of a server, closed by its last owner.
final class RemoteHandle: Sendable {
    let bytes: [UInt8]
    private let connection: SFTPConnection
    private let isClosed = Locked(false)

    init(_ bytes: [UInt8], of connection: SFTPConnection) {
        self.bytes = bytes
        self.connection = connection
    }

    deinit {
        if !isClosed.withLock({ $0 }) { connection.close(bytes) }
    }

    /// Closes it; the answer may report that written data was lost.
    func close() -> PendingReply {
        isClosed.withLock { $0 = true }
        return connection.send(.close(bytes))
    }
}
