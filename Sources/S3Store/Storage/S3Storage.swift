import HTTPClient
package import HTTPStorage
package import PathStore
import ReplicaModel

/// The storage of a bucket, in the layout that every other tool reads: an object for each file, under its own path.
///
/// After an interruption, a file is complete or unchanged: a server shows an object only when all of it has arrived.
/// Operations that S3 lacks, above all moves, are a copy followed by a removal (docs/decisions/s3-store.md).
///
/// Large: every call of a storage, a file for each group of them.
package final class S3Storage: PathStorage {
    package let properties: PathStorageProperties
    let connection: S3Connection
    let abilities: ServerAbilities
    let keys: KeySpace
    let known = KnownObjects()
    let listings = OpenListings()
    let limits: TransferLimits
    let leftovers: Leftovers
    /// What its copies are marked with, so that they are told from those of other machines.
    let mover: String

    private init(
        _ connection: S3Connection, _ keys: KeySpace, _ abilities: ServerAbilities, _ limits: TransferLimits,
        _ memory: AbilityMemory<ServerAbilities>?
    ) {
        (self.connection, self.keys, self.abilities, self.limits) = (connection, keys, abilities, limits)
        properties = abilities.properties
        leftovers = Leftovers(folder: memory?.folder)
        mover = MoverIdentity.kept(in: memory?.folder)
    }

    /// Looks whether the bucket is there and may be read, and tries what the server can do.
    /// - Parameters:
    ///   - memory: What is known of the server; nil for nothing.
    ///   - find: Finds the account, now and again when the server does not take it any more.
    package static func open(
        _ address: S3Address, limits: TransferLimits = TransferLimits(), memory: AbilityMemory<ServerAbilities>? = nil,
        find: @escaping @Sendable () throws(ServerFailure) -> S3Account
    ) async throws(ServerFailure) -> S3Storage {
        let connection = try S3Connection(address, limits: limits, find: find)
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

    /// How many requests have ended: more and more as long as it is at work.
    package var steps: UInt64 { connection.count }

    /// Ends all that is under way; every later call is ``PathStorageError/cancelled``.
    package func close() { connection.close() }

    /// S3 has no notifications.
    package func signals() -> AsyncStream<StoragePath?> { AsyncStream { $0.finish() } }

    /// What a server has answered is durable.
    package func makeDurable() async throws(PathStorageError) {}

    // MARK: Errors

    /// Makes a call and translates its errors.
    /// - Parameter path: What it is about, for messages.
    func call<Value: Sendable>(
        _ path: StoragePath, isChange: Bool, _ body: () async throws(CallError) -> Value
    ) async throws(PathStorageError) -> Value {
        do throws(CallError) {
            let value = try await body()
            if isChange { await clearLeftovers() }
            return value
        } catch {
            switch error {
            case .storage(let error): throw error
            case .request(let error): throw error.meaning(connection.address, path, isChange: isChange)
            }
        }
    }

    /// What a request answers.
    func get<Value>(_ body: () async throws(S3Error) -> Value) async throws(CallError) -> Value {
        do throws(S3Error) { return try await body() } catch { throw .request(error) }
    }

    /// That an answer is not what S3 answers: it proves nothing.
    func strange(_ path: StoragePath) -> CallError {
        .storage(.unreachable("\(path): the server's answer is not a valid S3 answer"))
    }
}

/// How a part of a call ended.
enum CallError: Error {
    case storage(PathStorageError)
    case request(S3Error)
}

/// How much goes at a time.
package struct TransferLimits: Sendable {
    /// Bytes from which on a file is sent in parts, and those of a part.
    package var (parted, part): (Int64, Int64) = (32 << 20, 16 << 20)
    /// Bytes of the largest file that is sent in one piece where parts can't be put together on a condition.
    package var whole: Int64 = 256 << 20
    /// Bytes of the largest object that one request copies.
    package var copied: Int64 = 5 << 30
    /// Parts that are under way at a time.
    package var together = 4
    /// Seconds without a byte in either direction after which any request fails.
    package var patience = 300
    /// How often a request goes out that may be made again, at most.
    package var attempts = 4

    package init() {}
}
