package import PathStore
package import ReplicaModel
import Threads

/// The storage of an SFTP server, reached by the user's own ssh.
///
/// A file is written under a temporary name in its folder, synced, and published by one request: linked if nothing may
/// be at its place, renamed over the file that it replaces. After a crash of either side, the file is complete or
/// unchanged; a temporary file may be left, which is not shown and is continued or removed later. Without fsync on the server,
/// acknowledged changes may be lost in a power cut there.
///
/// Large: all calls of a storage, with a file for each group.
package final class SFTPStorage: PathStorage {
    package let properties: PathStorageProperties
    let abilities: ServerAbilities
    let reconnector: Reconnector
    /// The parts of large files; nil to send each anew.
    let notes: UploadNotes?
    /// The folders that are made writable; nil to record none.
    let modeNotes: FolderModeNotes?
    /// For work that blocks on the local disk.
    let disk = DiskQueue("replica.sftp")
    /// Whether something was changed since the last fsync.
    let hasChanged = Locked(false)

    private init(
        _ reconnector: Reconnector, _ abilities: ServerAbilities, _ notes: UploadNotes?, _ modeNotes: FolderModeNotes?
    ) {
        (self.reconnector, self.abilities, self.notes, self.modeNotes) = (reconnector, abilities, notes, modeNotes)
        properties = abilities.properties
    }

    /// Connects and finds out what the server can do.
    /// - Parameter notes: Where the parts of large files, and folders that are made writable, are recorded; nil if they are not.
    package static func open(
        _ address: SFTPAddress, command: SSHCommand = SSHCommand(), limits: ConnectionLimits = ConnectionLimits(),
        notes: UploadNotes? = nil
    ) async throws(SFTPFailure) -> SFTPStorage {
        let first = Locked<ServerAbilities?>(nil)
        let modeNotes = notes.map { FolderModeNotes(folder: $0.folder) }
        let reconnector = Reconnector(address, command, limits) { session async throws(RequestFailure) in
            let found = try await ServerAbilities.tried(session)
            let known = first.withLock { known in
                known = known ?? found
                return known
            }
            guard found.isCaseSensitive else {
                throw .lost(.refused("\(address): names are case-insensitive there, which is not supported"))
            }
            // The properties reported at first are still relied on.
            guard !(known?.linksExclusively ?? false) || session.links else {
                throw .lost(.unreachable("\(address) has lost features that it had: mount the domain again"))
            }
            if let modeNotes { try await ReadOnlyFolders.restoreAll(modeNotes, session) }
        }
        do throws(RequestFailure) {
            try await reach(reconnector)
        } catch {
            if case .lost(let failure) = error { throw failure }
            throw .unreachable("\(address): cancelled")
        }
        return SFTPStorage(reconnector, first.withLock { $0 } ?? ServerAbilities(), notes, modeNotes)
    }

    private static func reach(_ reconnector: Reconnector) async throws(RequestFailure) {
        do throws(RequestFailure) { _ = try await reconnector.session() } catch {
            // It existed before, and may contain temporary files of ours that only we remove.
            guard reconnector.hasLeftovers else { throw error }
            _ = try await reconnector.session()
        }
    }

    /// Why there is no connection now, in one line; nil if there is one, or one is possible.
    package var trouble: String? { reconnector.trouble }

    /// Ends the connection; every later call is ``PathStorageError/unreachable(_:)``.
    package func close() async { await reconnector.close() }

    package func usage() async throws(PathStorageError) -> StoreUsage? {
        do throws(PathStorageError) {
            return try await call(.root, isChange: false) { session async throws(CallError) in
                guard session.tellsRoom else { return nil }
                return try await session.get { () async throws(RequestFailure) in
                    ServerSpace(try await session.send(.room(at: session.root)).extended())?.usage
                }
            }
        } catch .unsupported {
            // rclone announces it and does not have it.
            return nil
        }
    }

    /// SFTP has no notifications.
    package func signals() -> AsyncStream<StoragePath?> { AsyncStream { $0.finish() } }

    // MARK: Sessions and errors

    /// Makes a call.
    /// - Parameter path: The path concerned, for messages.
    func call<Value: Sendable>(
        _ path: StoragePath, isChange: Bool,
        _ body: (SFTPSession) async throws(CallError) -> Value
    ) async throws(PathStorageError) -> Value {
        var mayRepeat = !isChange
        while true {
            let session: SFTPSession
            do throws(RequestFailure) { session = try await reconnector.session() } catch { throw general(error) }
            do throws(CallError) {
                let value = try await body(session)
                if isChange { hasChanged.withLock { $0 = true } }
                return value
            } catch {
                switch error {
                case .storage(let error): throw error
                case .request(.lost) where mayRepeat:
                    // The connection may have been broken for a long time, and only this call has detected it.
                    mayRepeat = false
                case .request(let failure):
                    throw await meaning(of: failure, path, isChange: isChange, session)
                }
            }
        }
    }

    /// The storage's error for a missing connection.
    private func general(_ failure: RequestFailure) -> PathStorageError {
        switch failure {
        case .lost(.notAuthenticated(let text)): .notAuthenticated(text)
        case .lost(let failure): .unreachable(failure.message)
        case .status(let status): .unreachable(status.words)
        case .cancelled: .cancelled
        }
    }

    /// The storage's error for a failed request about `path`.
    func meaning(
        of failure: RequestFailure, _ path: StoragePath, isChange: Bool, _ session: SFTPSession
    ) async -> PathStorageError {
        guard case .status(let status) = failure else { return general(failure) }
        let text = "\(session.address): \(path): \(status.words)"
        switch status.code {
        case .noSuchFile: return .notFound
        case .permissionDenied: return isChange ? .refused(text) : .unavailable(text)
        case .badMessage: return .refused("\(text): the server does not accept this name")
        case .unsupported: return .unsupported(text)
        case .failure: return await reason(session, path, isChange: isChange) ?? .unavailable(text)
        default: return .unreachable(text)
        }
    }

    /// Finds out the cause of a failure without details: the server may be full, or read-only.
    private func reason(_ session: SFTPSession, _ path: StoragePath, isChange: Bool) async -> PathStorageError? {
        guard isChange, session.tellsRoom else { return nil }
        do throws(RequestFailure) {
            let reply = try await session.send(.room(at: session.root)).extended()
            guard let room = ServerSpace(reply) else { return nil }
            if room.isReadOnly { return .readOnly("\(session.address): the filesystem there is read-only") }
            if room.isFull { return .insufficientQuota("\(session.address): no space is left there") }
            return nil
        } catch {
            return nil
        }
    }
}

/// The outcome of a part of a call.
enum CallError: Error {
    case storage(PathStorageError)
    case request(RequestFailure)
}

extension SFTPSession {
    /// The result of a request.
    func get<Value>(
        _ body: () async throws(RequestFailure) -> Value
    ) async throws(CallError) -> Value {
        do throws(RequestFailure) { return try await body() } catch { throw .request(error) }
    }
}
