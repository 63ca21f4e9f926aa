import HTTPClient
package import HTTPStorage
package import PathStore
import ReplicaModel
import Threads

/// The storage of a folder on a WebDAV server (RFC 4918): a file for each file and a collection for each folder, under their own
/// names. The reasons are in docs/decisions/webdav-store.md.
/// Large: every call of a storage, a file for each group of them.
package final class WebDAVStorage: PathStorage {
    package let properties: PathStorageProperties
    let connection: WebDAVConnection
    let abilities: ServerAbilities
    let listings = OpenListings()
    /// Files of the store's own that could not be removed yet.
    let leftovers = Locked<Set<StoragePath>>([])

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

    /// Looks whether the folder is there and may be read, and tries what the server can do.
    /// - Parameters:
    ///   - memory: What is known of the server; nil for nothing.
    ///   - abilities: What it can do, where that is known.
    ///   - patience: How long it may be tried: the daemon waits ten seconds for a store.
    ///   - chunks: How large files are sent where the server takes them in chunks.
    ///   - silence: Seconds without a byte that are waited for at most; as long as each request may take for nil.
    package static func open(
        _ address: WebDAVAddress, _ login: WebDAVLogin, memory: AbilityMemory<ServerAbilities>? = nil,
        abilities: ServerAbilities? = nil, patience: Duration = .seconds(6), chunks: ChunkLimits = ChunkLimits(),
        silence: Int? = nil
    ) async throws(ServerFailure) -> WebDAVStorage {
        let connection = try WebDAVConnection(address, login, silence: silence)
        do throws(WebDAVError) {
            try await connection.enter()
            guard let (root, _) = try await connection.find([], isFolder: true) else {
                throw .failure(.refused("there is no folder \(address) there"))
            }
            guard root.isFolder else { throw .failure(.refused("\(address) is a file")) }
            connection.isCloud.withLock { $0 = root.cloud.number != nil }
            if let abilities = abilities ?? memory?.abilities(of: connection.server) {
                return WebDAVStorage(connection, abilities, chunks, folder: memory?.folder)
            }
            let tried = try await ServerTrial.run(connection, patience: patience)
            if tried.isWhole { memory?.note(tried.abilities, of: connection.server) }
            return WebDAVStorage(connection, tried.abilities, chunks, folder: memory?.folder)
        } catch {
            connection.close()
            throw error.failure(address)
        }
    }

    /// How many requests have ended: more and more as long as it is at work.
    package var steps: UInt64 { connection.count }

    /// Ends all that is under way; every later call is ``PathStorageError/cancelled``.
    package func close() { connection.close() }

    /// WebDAV has no notifications.
    package func signals() -> AsyncStream<StoragePath?> { AsyncStream { $0.finish() } }

    /// What a server has answered is as durable as the server has it.
    package func makeDurable() async throws(PathStorageError) {}

    /// What the names of files begin with that are not there yet, or are for a moment.
    static let temporaryPrefix = ".replica-tmp-"

    static func isTemporary(_ name: FileName) -> Bool { name.bytes.starts(with: temporaryPrefix.utf8) }

    /// Why nothing can be at a path; nil where something can.
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
    /// - Parameter path: What it is about, for messages.
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

    /// What a request answers.
    func get<Value>(_ body: () async throws(WebDAVError) -> Value) async throws(CallError) -> Value {
        do throws(WebDAVError) { return try await body() } catch { throw .request(error) }
    }

    /// Makes a request.
    @discardableResult
    func send(_ request: WebDAVRequest) async throws(CallError) -> HTTPAnswer {
        try await get { () async throws(WebDAVError) in try await connection.send(request) }
    }
}
