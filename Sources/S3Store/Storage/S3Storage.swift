import HTTPClient
package import HTTPStorage
package import PathStore
import ReplicaModel
import Threads

/// The storage of a bucket, in the layout that all other tools use: an object for each file, under its path.
///
/// After an interruption, a file is complete or unchanged: a server shows an object only when it has arrived
/// completely. Operations that S3 lacks, above all moves, are a copy followed by a removal
/// (docs/decisions/s3-store.md).
///
/// Large: all calls of a storage, with a file for each group.
package final class S3Storage: PathStorage {
    package let properties: PathStorageProperties
    let connection: S3Connection
    let abilities: ServerAbilities
    let keys: KeySpace
    let known = ObjectMetadataCache()
    let listings = OpenListings()
    let limits: TransferLimits
    let leftovers: Leftovers
    let partNotes: PartNotes
    let disk = DiskQueue("replica.s3")
    /// The mark of its copies, which distinguishes them from those of other machines.
    let mover: String
    /// Nil if this replica neither tells nor hears of changes.
    let hints: Hints?

    private init(
        _ connection: S3Connection, _ keys: KeySpace, _ abilities: ServerAbilities, _ limits: TransferLimits,
        _ memory: SavedAbilities<ServerAbilities>?
    ) {
        (self.connection, self.keys, self.abilities, self.limits) = (connection, keys, abilities, limits)
        properties = abilities.properties
        leftovers = Leftovers(folder: memory?.folder)
        partNotes = PartNotes(folder: memory?.folder)
        mover = MoverIdentity.kept(in: memory?.folder)
        let object = HintObject(connection: connection, key: keys.own("changes"), abilities: abilities)
        hints = limits.hints.map { Hints(object, timing: $0, complain: limits.complain) }
    }

    /// Checks that the bucket exists and can be read, and tests the server's features.
    /// - Parameters:
    ///   - memory: The recorded features of servers; nil if there are none.
    ///   - find: Finds the account; called again when the server rejects it.
    package static func open(
        _ address: S3Address, limits: TransferLimits = TransferLimits(), memory: SavedAbilities<ServerAbilities>? = nil,
        find: @escaping @Sendable () async throws(ServerFailure) -> S3Account
    ) async throws(ServerFailure) -> S3Storage {
        let connection = try S3Connection(address, account: try await find(), limits: limits, find: find)
        let keys = KeySpace(prefix: address.prefix)
        do throws(S3Error) {
            _ = try await connection.list(keys.base, isDeep: true, from: nil, most: 1)
            let server = connection.server
            if let abilities = memory?.abilities(of: server) {
                return S3Storage(connection, keys, abilities, limits, memory)
            }
            let abilities = try await ServerAbilities.tried(connection, keys)
            memory?.note(abilities, of: server)
            return S3Storage(connection, keys, abilities, limits, memory)
        } catch {
            connection.close()
            throw error.failure(address)
        }
    }

    /// The number of finished requests, which grows as long as it makes progress.
    package var steps: UInt64 { connection.count }

    /// Removes what only a running replica leaves in the bucket: the hint for others. Takes seconds at most.
    package func end() async { await hints?.end() }

    /// Cancels all requests in flight; every later call is ``PathStorageError/cancelled``.
    package func close() { connection.close() }

    /// S3 has no notifications: replicas leave hints for each other.
    package func signals() -> AsyncStream<StoragePath?> { hints?.heard() ?? AsyncStream { $0.finish() } }

    /// Acknowledged changes are durable.
    package func makeDurable() async throws(PathStorageError) {}

    // MARK: Errors

    /// Makes a call and translates its errors.
    /// - Parameters:
    ///   - path: The path concerned, for messages.
    ///   - target: The path of a move.
    func call<Value: Sendable>(
        _ path: StoragePath, isChange: Bool, target: StoragePath? = nil, _ body: () async throws(CallError) -> Value
    ) async throws(PathStorageError) -> Value {
        hints?.noteCall()
        do throws(CallError) {
            let value = try await body()
            if isChange {
                for changed in [path, target] { changed.map { hints?.tell($0.parent ?? .root) } }
                await clearLeftovers()
            }
            return value
        } catch {
            switch error {
            case .storage(let error): throw error
            case .request(let error): throw error.meaning(connection.address, path, isChange: isChange)
            }
        }
    }

    /// The answer to a request.
    func get<Value>(_ body: () async throws(S3Error) -> Value) async throws(CallError) -> Value {
        do throws(S3Error) { return try await body() } catch { throw .request(error) }
    }

    /// The error for an answer that is not from S3: it proves nothing.
    func strange(_ path: StoragePath) -> CallError {
        .storage(.unreachable("\(path): the server's answer is not a valid S3 answer"))
    }
}

/// The outcome of a part of a call.
enum CallError: Error {
    case storage(PathStorageError)
    case request(S3Error)
}

/// The sizes, the concurrency and the times of requests.
package struct TransferLimits: Sendable {
    /// The size in bytes from which a file is sent in parts, and the size of a part.
    package var (parted, part): (Int64, Int64) = (32 << 20, 16 << 20)
    /// The maximum size in bytes of a file that is sent in one request if parts can't be completed conditionally.
    package var whole: Int64 = 256 << 20
    /// The maximum size in bytes of an object that one request copies.
    package var copied: Int64 = 5 << 30
    /// The number of parts in flight.
    package var together = 4
    /// The timeout of a request without a byte in either direction, in seconds.
    package var silenceSeconds = 300
    /// The maximum number of attempts of a request that may be repeated.
    package var attempts = 4
    /// Seconds after which an upload whose machine does not continue it is abandoned: longer than one may be continued.
    package var abandonment = 2 * PartNotes.longest
    /// Nil if no hints are left for other replicas, and none are read.
    package var hints: HintTiming?
    /// Called once with the reason why hints can't be written.
    package var complain: @Sendable (String) -> Void = { _ in }

    package init() {}
}
