import HTTPClient
package import HTTPStorage
package import PathStore
package import ReplicaModel
import Threads

/// The storage of a folder on a WebDAV server (RFC 4918): a file for each file and a collection for each folder, under
/// their own names. The reasons are in docs/decisions/webdav-store.md. Large: all calls of a storage, with a file for
/// each group.
package final class WebDAVStorage: PathStorage {
    package let properties: PathStorageProperties
    let connection: WebDAVConnection
    let abilities: ServerAbilities
    let listings = OpenListings()
    /// Internal files that could not be removed yet.
    let leftovers = Locked<[StoragePath: Leftover]>([:])

    var address: WebDAVAddress { connection.address }

    let chunks: ChunkLimits
    let chunkNotes: ChunkNotes
    let disk = DiskQueue("replica.webdav")

    private init(
        _ connection: WebDAVConnection, _ abilities: ServerAbilities, _ chunks: ChunkLimits, folder: String?
    ) {
        (self.connection, self.abilities, self.chunks) = (connection, abilities, chunks)
        chunkNotes = ChunkNotes(folder: folder)
        properties = abilities.properties
    }

    /// Checks that the folder exists and can be read, and tests the server's features.
    /// - Parameters:
    ///   - memory: The recorded features of servers; nil if there are none.
    ///   - abilities: The server's features, if known.
    ///   - timeLimit: The time limit of the tests, some 120 requests in up to 40 steps: the daemon waits five minutes for a store
    ///     that says that it is being opened.
    ///   - noticeTime: How long the server may take, at least, to read a request whose connection ended.
    ///   - chunks: How large files are sent if the server supports chunks.
    ///   - silence: The timeout without a byte, in seconds; nil for the request's own timeout.
    package static func open(
        _ address: WebDAVAddress, _ login: WebDAVLogin, memory: SavedAbilities<ServerAbilities>? = nil,
        abilities: ServerAbilities? = nil, timeLimit: Duration = .seconds(120),
        noticeTime: Duration = .seconds(1), chunks: ChunkLimits = ChunkLimits(), silence: Int? = nil
    ) async throws(ServerFailure) -> WebDAVStorage {
        let connection = try WebDAVConnection(address, login, silence: silence)
        do throws(WebDAVError) {
            try await connection.enter()
            let begin = ContinuousClock.now
            guard let (root, _) = try await connection.find([], isFolder: true) else {
                throw .failure(.refused("there is no folder \(address) there"))
            }
            let roundTrip = begin.duration(to: .now)
            guard root.isFolder else { throw .failure(.refused("\(address) is a file")) }
            connection.isCloud.withLock { $0 = root.cloud.number != nil }
            if let abilities = abilities ?? memory?.abilities(of: connection.server) {
                return WebDAVStorage(connection, abilities, chunks, folder: memory?.folder)
            }
            let tried = try await ServerTrial.run(
                connection, timeLimit: timeLimit, noticeTime: noticeTime, roundTrip: roundTrip)
            if tried.isWhole { memory?.note(tried.abilities, of: connection.server) }
            return WebDAVStorage(connection, tried.abilities, chunks, folder: memory?.folder)
        } catch {
            connection.close()
            throw error.failure(address)
        }
    }

    /// The number of finished requests, which grows as long as it makes progress.
    package var steps: UInt64 { connection.count }

    /// Cancels all requests in flight; every later call is ``PathStorageError/cancelled``.
    package func close() { connection.close() }

    /// WebDAV has no notifications.
    package func signals() -> AsyncStream<StoragePath?> { AsyncStream { $0.finish() } }

    /// Acknowledged changes are as durable as the server makes them.
    package func makeDurable() async throws(PathStorageError) {}

    /// The user's quota; nil on servers that don't report one.
    package func usage() async throws(PathStorageError) -> StoreUsage? {
        try await call(.root, isChange: false) { () async throws(CallError) in
            try await get { () async throws(WebDAVError) in
                let (found, _, _) = try await connection.ask(
                    [], isFolder: true, withChildren: false, question: WebDAVConnection.quotaQuestion)
                // A server that knows neither says nothing about the folder.
                let root = found.first { $0.names.isEmpty }
                return StoreUsage(used: root?.used, free: root?.available)
            }
        }
    }

    /// The prefix of temporary names.
    static let temporaryPrefix = ".replica-tmp-"

    static func isTemporary(_ name: FileName) -> Bool { name.bytes.starts(with: temporaryPrefix.utf8) }

    /// Why a path is not possible; nil if it is.
    func refusal(of path: StoragePath) -> String? {
        for name in path.names {
            if Self.isTemporary(name) { return "names starting with \(Self.temporaryPrefix) are reserved" }
            if String(validating: name.bytes, as: UTF8.self) == nil {
                return "WebDAV accepts only UTF-8 names"
            }
            if !abilities.takesControls, name.bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                return "the server does not accept control characters in names"
            }
        }
        return nil
    }

    // MARK: Errors

    /// Makes a call and translates its errors.
    /// - Parameter path: The path concerned, for messages.
    func call<Value: Sendable>(
        _ path: StoragePath, isChange: Bool, _ body: () async throws(CallError) -> Value
    ) async throws(PathStorageError) -> Value {
        do throws(CallError) { return try await body() } catch {
            switch error {
            case .storage(let error): throw error
            case .request(let error): throw error.meaning(address, path, isChange: isChange)
            }
        }
    }

    /// The answer to a request.
    func get<Value>(_ body: () async throws(WebDAVError) -> Value) async throws(CallError) -> Value {
        do throws(WebDAVError) { return try await body() } catch { throw .request(error) }
    }

    /// Makes a request.
    @discardableResult
    func send(_ request: WebDAVRequest) async throws(CallError) -> HTTPAnswer {
        try await get { () async throws(WebDAVError) in try await connection.send(request) }
    }
}
