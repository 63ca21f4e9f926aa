import Glibc
import HTTPClient
package import HTTPStorage
package import PathStore
package import ReplicaModel
import SystemPackage
import Threads

/// The storage of a folder on a remote of rclone's: a file for each file, under its own name. The reasons are in
/// docs/decisions/rclone-store.md. Large: all calls of a storage, with a file for each group.
package final class RcloneStorage: PathStorage {
    package let properties: PathStorageProperties
    let connection: RcloneConnection
    let abilities: RemoteAbilities
    let root: String
    let listings = OpenListings()
    /// The files that rclone sends.
    let outbox: OutgoingFiles
    let disk = DiskQueue("replica.rclone")
    /// Internal files that could not be removed yet.
    let leftovers = Locked<Set<StoragePath>>([])
    /// The temporary names of files being sent.
    let underWay = Locked<Set<StoragePath>>([])
    /// Whether a file was read back with the time that was sent: some remotes report that they keep times, but do not.
    let hasKeptTime = Locked(false)
    /// Whether the remote was seen to set no times without contents: they stay local then.
    let hasFixedTimes = Locked(false)
    /// rclone's configuration file, which other rclone processes need too.
    let settings: String
    /// The maximum number of entries of a listing.
    let mostItems: Int

    private init(
        _ connection: RcloneConnection, _ abilities: RemoteAbilities, root: String, settings: String,
        outbox: OutgoingFiles,
        mostItems: Int
    ) {
        (self.connection, self.abilities, self.root) = (connection, abilities, root)
        (self.settings, self.outbox, self.mostItems) = (settings, outbox, mostItems)
        properties = abilities.properties
    }

    /// Starts rclone, and checks the remote's features and that its folder exists.
    /// - Parameters:
    ///   - server: Keeps rclone running.
    ///   - state: The store's folder.
    package static func open(
        _ address: RcloneAddress, _ server: RcloneRunner, state: String
    ) async throws(ServerFailure) -> RcloneStorage {
        let connection = RcloneConnection(client: server.client, server: server)
        return try await open(address, connection, state: state, setsTimes: !server.hasPassword)
    }

    static func open(
        _ address: RcloneAddress, _ connection: RcloneConnection, state: String, setsTimes: Bool,
        mostItems: Int = ListReader.most, timeLimit: Duration = .seconds(5)
    ) async throws(ServerFailure) -> RcloneStorage {
        do throws(RcloneError) {
            let info: RemoteInfo = try await connection.ask("operations/fsinfo", RcloneInput(address.root))
            let paths: RclonePaths = try await connection.ask("config/paths", RcloneInput())
            let abilities = RemoteAbilities(info, setsTimes: setsTimes)
            let storage = RcloneStorage(
                connection, abilities, root: address.root, settings: paths.config,
                outbox: try OutgoingFiles(state: state),
                mostItems: mostItems)
            try await storage.expectRoot(within: timeLimit)
            return storage
        } catch {
            await connection.close()
            throw error.failure(address)
        }
    }

    /// A number that grows as long as it makes progress.
    package var steps: UInt64 { connection.steps }

    /// Cancels all calls in flight; every later call is ``PathStorageError/cancelled``.
    package func close() async {
        await connection.close()
        outbox.remove()
    }

    /// rclone has no notifications.
    package func signals() -> AsyncStream<StoragePath?> { AsyncStream { $0.finish() } }

    /// Acknowledged changes are as durable as the remote makes them.
    package func makeDurable() async throws(PathStorageError) {}

    /// The remote's space. Each number may be missing: many services know no total.
    package func usage() async throws(PathStorageError) -> StoreUsage? {
        guard abilities.tellsUsage else { return nil }
        return try await call(.root, isChange: false) { () async throws(CallError) in
            try await get { () async throws(RcloneError) in
                let figures: SpaceFigures = try await connection.ask("operations/about", RcloneInput(root))
                return figures.usage
            }
        }
    }

    // MARK: Calls

    /// Makes a call and translates its errors.
    /// - Parameter path: The path concerned, for messages.
    func call<Value: Sendable>(
        _ path: StoragePath, isChange: Bool, _ body: () async throws(CallError) -> Value
    ) async throws(PathStorageError) -> Value {
        do throws(CallError) { return try await body() } catch {
            switch error {
            case .storage(let error): throw error
            case .request(let error): throw error.meaning(path, isChange: isChange)
            }
        }
    }

    /// The answer to a request.
    func get<Value>(_ body: () async throws(RcloneError) -> Value) async throws(CallError) -> Value {
        do throws(RcloneError) { return try await body() } catch { throw .request(error) }
    }

    /// Makes a change by one call of rclone.
    func change(_ name: String, _ input: RcloneInput) async throws(CallError) {
        try await get { () async throws(RcloneError) in try await connection.long(name, input) }
    }
}
