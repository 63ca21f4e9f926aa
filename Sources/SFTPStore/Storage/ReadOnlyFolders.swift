import PathStore
import ReplicaModel
import Threads

/// The folders that the login owns and may not change (mode 0555), such as those of a read-only tree that was copied into the mount.
/// They get the missing permissions while calls change their entries, and are shown as they were before. One for each session.
final class ReadOnlyFolders: Sendable {
    private struct Writable {
        var mode: UInt32
        var calls = 1
        /// Whether the mode is being restored: no call can rely on the writable one any more.
        var isEnding = false
        /// When the mode was restored: answers to earlier requests may have the other one.
        var end: ContinuousClock.Instant?
    }

    /// Permissions of a folder's owner that changes of its entries need.
    static let needed: UInt32 = 0o300
    private static let setGroup: UInt32 = 0o2000

    private let folders = Locked<[StoragePath: Writable]>([:])
    /// Modes are changed one at a time.
    let turn = ConcurrencyLimit(1)

    /// The mode of a folder as it is without a call of this session.
    /// - Parameter asked: When the server was asked, or before.
    func mode(of path: StoragePath, now mode: UInt32, asked: ContinuousClock.Instant) -> UInt32 {
        folders.withLock { folders in
            guard let own = folders[path], mode == own.mode | Self.needed, own.end.map({ asked < $0 }) ?? true else {
                return mode
            }
            return own.mode
        }
    }

    /// Makes a folder writable, unless it is, or is another user's.
    /// - Parameter target: Where it is moved to by the call.
    /// - Returns: Whether it has to be released.
    func makeWritable(
        _ path: StoragePath, movingTo target: StoragePath?, _ session: SFTPSession, _ notes: FolderModeNotes?
    ) async throws(RequestFailure) -> Bool {
        if join(path) { return true }
        guard let found = try await session.send(.lstat(session.path(path))).presentAttributes(), found.isFolder,
            let mode = found.mode.map({ $0 & 0o7777 }), mode & Self.needed != Self.needed,
            // The server clears this bit if the login is not in the folder's group.
            mode & Self.setGroup == 0
        else { return false }
        let places = [path, target].compactMap { $0.map(session.path) }
        await notes?.note(mode, of: places)
        do throws(RequestFailure) {
            try await session.send(.set(SFTPAttributes(mode: mode | Self.needed), of: session.path(path))).done()
        } catch {
            guard case .status = error else { throw error }
            await notes?.note(nil, of: places)
            return false
        }
        folders.withLock { folders in
            folders = folders.filter { $0.value.end.map { ContinuousClock.now - $0 < .seconds(600) } ?? true }
            folders[path] = Writable(mode: mode)
        }
        return true
    }

    /// Whether the folder is made writable now; then it stays so until this call has ended too.
    func join(_ path: StoragePath) -> Bool {
        folders.withLock { folders in
            guard let own = folders[path], !own.isEnding else { return false }
            folders[path]?.calls += 1
            return true
        }
    }

    /// A call that needed the folder has ended; the last one restores its mode.
    /// - Parameter target: Where the call moved it.
    func release(
        _ path: StoragePath, movedTo target: StoragePath?, _ session: SFTPSession, _ notes: FolderModeNotes?
    ) async throws(RequestFailure) {
        let mode: UInt32? = folders.withLock { folders in
            folders[path]?.calls -= 1
            guard let own = folders[path], own.calls == 0 else { return nil }
            folders[path]?.isEnding = true
            return own.mode
        }
        guard let mode else { return }
        defer { folders.withLock { $0[path]?.end = .now } }
        let place = session.path(target ?? path)
        try await Self.restore(mode, of: place, session)
        await notes?.note(nil, of: [session.path(path), place])
    }

    /// The mode to set instead of this one.
    func noted(_ mode: UInt32, of path: StoragePath, _ session: SFTPSession, _ notes: FolderModeNotes?) async -> UInt32
    {
        let isWritable = folders.withLock { folders in
            guard let own = folders[path], !own.isEnding else { return false }
            folders[path]?.mode = mode
            return true
        }
        guard isWritable else { return mode }
        await notes?.note(mode, of: [session.path(path)])
        return mode | Self.needed
    }

    /// Restores the modes of folders that a former connection left writable.
    static func restoreAll(_ notes: FolderModeNotes, _ session: SFTPSession) async throws(RequestFailure) {
        for (place, mode) in notes.all {
            try await restore(mode, of: place, session)
            await notes.note(nil, of: [place])
        }
    }

    /// Another program's chmod meanwhile stays, unless it is to the same mode.
    private static func restore(_ mode: UInt32, of place: [UInt8], _ session: SFTPSession) async throws(RequestFailure)
    {
        do throws(RequestFailure) {
            let found = try await session.send(.lstat(place)).presentAttributes()
            guard let found, found.isFolder, found.mode.map({ $0 & 0o7777 }) == mode | needed else { return }
            try await session.send(.set(SFTPAttributes(mode: mode), of: place)).done()
        } catch {
            // It can't be restored.
            guard case .status = error else { throw error }
        }
    }
}

extension SFTPStorage {
    /// Changes entries of folders. Those that the login owns and may not change are made writable for it.
    /// - Parameters:
    ///   - folders: What may have to be made writable. The root is never made writable: whoever makes it read-only makes the store read-only.
    ///   - target: Where the last of them is moved.
    func changing<Value: Sendable>(
        _ folders: [StoragePath], _ session: SFTPSession, movingTo target: StoragePath? = nil,
        _ body: () async throws(CallError) -> Value
    ) async throws(CallError) -> Value {
        var held = folders.filter { session.readOnlyFolders.join($0) }.map { Held(path: $0, target: nil) }
        do throws(CallError) {
            let value: Value
            do throws(CallError) { value = try await body() } catch {
                guard case .request(.status(let status)) = error, status.code == .permissionDenied else { throw error }
                let former = held.map(\.path)
                let more = try await makeWritable(
                    folders.filter { $0 != .root && !former.contains($0) }, session, target)
                guard !more.isEmpty else { throw error }
                held += more
                value = try await body()
            }
            await release(held, session, movedTo: target)
            return value
        } catch {
            await release(held, session, movedTo: nil)
            throw error
        }
    }

    private struct Held: Sendable {
        let path: StoragePath
        let target: StoragePath?
    }

    private func makeWritable(
        _ folders: [StoragePath], _ session: SFTPSession, _ target: StoragePath?
    ) async throws(CallError) -> [Held] {
        var held: [Held] = []
        do throws(CallError) {
            for path in folders where !held.contains(where: { $0.path == path }) {
                let target = path == folders.last ? target : nil
                let isWritable = try await inTurn(session) { () async throws(RequestFailure) in
                    try await session.readOnlyFolders.makeWritable(path, movingTo: target, session, self.modeNotes)
                }
                if isWritable { held.append(Held(path: path, target: target)) }
            }
            return held
        } catch {
            await release(held, session, movedTo: nil)
            throw error
        }
    }

    /// Not cut short if the caller is cancelled. What a lost connection leaves is restored by the next one.
    private func release(_ held: [Held], _ session: SFTPSession, movedTo target: StoragePath?) async {
        guard !held.isEmpty else { return }
        let restoring = Task {
            for one in held {
                // The next connection restores it.
                try? await inTurn(session) { () async throws(RequestFailure) in
                    let moved = one.target == nil ? nil : target
                    try await session.readOnlyFolders.release(one.path, movedTo: moved, session, self.modeNotes)
                }
            }
        }
        if !Task.isCancelled { await restoring.value }
    }

    /// Changes modes of folders while no other call does.
    func inTurn<Value: Sendable>(
        _ session: SFTPSession, _ body: () async throws(RequestFailure) -> Value
    ) async throws(CallError) -> Value {
        do throws(RemoteStoreError) { try await session.readOnlyFolders.turn.enter() } catch {
            throw .request(.cancelled)
        }
        defer { session.readOnlyFolders.turn.leave() }
        return try await session.get(body)
    }
}
