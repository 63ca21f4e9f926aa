import Glibc
import HTTPClient
package import HTTPStorage
package import PathStore
import ReplicaModel
import SystemPackage
import Threads

/// The storage of a folder on a remote of rclone's: a file for each file, under its own name. The reasons are in
/// docs/decisions/rclone-store.md.
/// Large: every call of a storage, a file for each group of them.
package final class RcloneStorage: PathStorage {
    package let properties: PathStorageProperties
    let connection: RcloneConnection
    let abilities: RemoteAbilities
    let root: String
    let listings = OpenListings()
    /// Where rclone reads what it is to send.
    let outbox: Outbox
    let disk = DiskQueue("replica.rclone")
    /// Files of the store's own that could not be removed yet.
    let leftovers = Locked<Set<StoragePath>>([])
    /// What is sent under another name first, as long as it is.
    let underWay = Locked<Set<StoragePath>>([])
    /// Whether a file has come back with the time that was sent: some remotes say that they keep times, and do not.
    let hasKeptTime = Locked(false)
    /// The file of rclone's settings, which other rclones need, too.
    let settings: String
    /// Entries of a listing that are taken.
    let mostItems: Int

    private init(
        _ connection: RcloneConnection, _ abilities: RemoteAbilities, root: String, settings: String, outbox: Outbox,
        mostItems: Int
    ) {
        (self.connection, self.abilities, self.root) = (connection, abilities, root)
        (self.settings, self.outbox, self.mostItems) = (settings, outbox, mostItems)
        properties = abilities.properties
    }

    /// Starts rclone, and looks what the remote is and whether its folder is there.
    /// - Parameters:
    ///   - server: What keeps rclone running.
    ///   - state: A folder of the store's own.
    package static func open(
        _ address: RcloneAddress, _ server: RcloneServer, state: String
    ) async throws(ServerFailure) -> RcloneStorage {
        let connection = RcloneConnection(client: server.client, server: server)
        return try await open(address, connection, state: state, setsTimes: !server.hasPassword)
    }

    static func open(
        _ address: RcloneAddress, _ connection: RcloneConnection, state: String, setsTimes: Bool,
        mostItems: Int = ListReader.most
    ) async throws(ServerFailure) -> RcloneStorage {
        do throws(RcloneError) {
            let info: RemoteInfo = try await connection.ask("operations/fsinfo", RcloneInput(address.root))
            let paths: RclonePaths = try await connection.ask("config/paths", RcloneInput())
            let abilities = RemoteAbilities(info, setsTimes: setsTimes)
            let storage = RcloneStorage(
                connection, abilities, root: address.root, settings: paths.config, outbox: try Outbox(state: state),
                mostItems: mostItems)
            try await storage.expectRoot()
            return storage
        } catch {
            await connection.close()
            throw error.failure(address)
        }
    }

    /// More and more as long as it is at work.
    package var steps: UInt64 { connection.steps }

    /// Ends all that is under way; every later call is ``PathStorageError/cancelled``.
    package func close() async {
        await connection.close()
        outbox.remove()
    }

    /// rclone tells nothing by itself.
    package func signals() -> AsyncStream<StoragePath?> { AsyncStream { $0.finish() } }

    /// What rclone has answered is as durable as the remote has it.
    package func makeDurable() async throws(PathStorageError) {}

    // MARK: Names

    /// What the names of files begin with that are the store's own, and end with that rclone has not written whole.
    static let (ownPrefix, partialSuffix) = (OwnName.prefix, OwnName.suffix)
    /// Keeps a folder there with nothing else in it, where the remote does not.
    static let folderMark = FileName(".replica-folder")

    static func isOwn(_ name: FileName) -> Bool {
        name == folderMark || OwnName.isOne(name)
    }

    /// A path as rclone has it.
    func text(_ path: StoragePath) -> String { path.names.map(\.description).joined(separator: "/") }

    /// Why nothing can be at a path; nil where something can.
    func refusal(of path: StoragePath) -> String? {
        for name in path.names {
            if Self.isOwn(name) { return "names with \(Self.partialSuffix) and \(Self.folderMark) are the store's own" }
            if String(validating: name.bytes, as: UTF8.self) == nil {
                return "rclone takes no names that are not UTF-8"
            }
            // It lists them as other characters.
            if name.bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                return "rclone takes no control characters in names"
            }
            // By it rclone marks what stands for another; on a disk it doubles it.
            if name.description.unicodeScalars.contains("\u{201B}") {
                return "rclone takes no \u{201B} in names, by which it marks other characters"
            }
        }
        return nil
    }

    // MARK: Calls

    /// Makes a call, and says what its errors mean.
    /// - Parameter path: What it is about, for messages.
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

    /// What a request answers.
    func get<Value>(_ body: () async throws(RcloneError) -> Value) async throws(CallError) -> Value {
        do throws(RcloneError) { return try await body() } catch { throw .request(error) }
    }

    /// Changes something by one call of rclone's.
    func change(_ name: String, _ input: RcloneInput) async throws(CallError) {
        try await get { () async throws(RcloneError) in try await connection.long(name, input) }
    }
}
