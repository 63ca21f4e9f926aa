package import PathStore
import ReplicaModel
import Threads

extension SFTPStorage {
    package func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        try check(path)
        if case .symlink = kind, !abilities.keepsSymlinks { throw .unsupported("symlinks") }
        return try await call(path, isChange: true) { session async throws(CallError) in
            try await self.changing([path.parent ?? .root], session) { () async throws(CallError) in
                try await self.make(path, kind, attributes, session)
            }
        }
    }

    private func make(
        _ path: StoragePath, _ kind: PathKind, _ attributes: PathAttributes, _ session: SFTPSession
    ) async throws(CallError) -> PathEntry {
        // A server that replaces files may report success for a folder that already exists.
        if !abilities.linksExclusively, let taken = try await taken(path, session) { throw .storage(taken) }
        switch kind {
        case .file: throw .storage(.unsupported("files are created by writing them"))
        case .folder:
            let mode = attributes.mode.map { UInt32($0) }
            try await made(path, session, session.send(.makeFolder(session.path(path), mode: mode)))
        case .symlink(let target):
            try await made(path, session, session.send(.makeSymlink(session.path(path), target: target)))
        }
        return try await completed(path, kind, attributes, session)
    }

    /// Throws unless the entry was created.
    private func made(_ path: StoragePath, _ session: SFTPSession, _ reply: PendingReply) async throws(CallError) {
        do throws(RequestFailure) { try await reply.done() } catch {
            if case .status(let status) = error, status.code != .noSuchFile,
                let taken = try await taken(path, session)
            {
                throw .storage(taken)
            }
            throw .request(error)
        }
    }

    /// Sets the attributes of a created entry; removes the entry if the server refuses them.
    private func completed(
        _ path: StoragePath, _ kind: PathKind, _ attributes: PathAttributes, _ session: SFTPSession
    ) async throws(CallError) -> PathEntry {
        do throws(CallError) {
            guard let entry = try await set(attributes, of: path, session), entry.kind == kind else {
                throw .storage(.unreachable("\(session.address): \(path): it was replaced while it was being created"))
            }
            return entry
        } catch {
            if case .request(.status) = error {
                _ = session.send(kind == .folder ? .removeFolder(session.path(path)) : .remove(session.path(path)))
            }
            throw error
        }
    }

    package func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        try await call(path, isChange: true) { session async throws(CallError) in
            let entry = try await self.changing([path.parent ?? .root], session) { () async throws(CallError) in
                try await self.set(attributes, of: path, session)
            }
            guard let entry else { throw .storage(.notFound) }
            return entry
        }
    }

    /// - Returns: The resulting entry; nil if there is none.
    private func set(
        _ attributes: PathAttributes, of path: StoragePath, _ session: SFTPSession
    ) async throws(CallError) -> PathEntry? {
        guard let there = try await self.attributes(at: path, session) else { return nil }
        var wanted = SFTPAttributes()
        if abilities.keepsModes, !there.isSymlink { wanted.mode = attributes.mode.map { UInt32($0) } }
        if abilities.keepsTimes, let date = attributes.modificationDate {
            wanted.times = SFTPAttributes.Times(access: there.times?.access ?? date.sftp, modification: date.sftp)
        }
        // A server that cannot set the time of a symlink would set that of its target.
        if wanted != SFTPAttributes(), !there.isSymlink || session.setsSymlinks {
            try await set(wanted, of: path, there, session)
        }
        return try await entry(at: path, session)
    }

    private func set(
        _ wanted: SFTPAttributes, of path: StoragePath, _ there: SFTPAttributes, _ session: SFTPSession
    ) async throws(CallError) {
        let place = session.path(path)
        if there.isFolder {
            return try await inTurn(session) { () async throws(RequestFailure) in
                var wanted = wanted
                if let mode = wanted.mode {
                    wanted.mode = await session.readOnlyFolders.noted(mode, of: path, session, self.modeNotes)
                }
                try await session.send(.set(wanted, of: place)).done()
            }
        }
        try await session.get { () async throws(RequestFailure) in
            try await session.send(there.isSymlink ? .setOfSymlink(wanted, of: place) : .set(wanted, of: place)).done()
        }
    }

    package func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        try check(path)
        try check(target)
        return try await call(path, isChange: true) { session async throws(CallError) in
            // A folder that gets another parent has to be writable itself, for its `..`.
            let folders = [path.parent ?? .root, target.parent ?? .root, path]
            try await self.changing(folders, session, movingTo: target) { () async throws(CallError) in
                try await self.move(path, to: target, version, session)
            }
            guard let entry = try await self.entry(at: target, session) else {
                throw .storage(.unreachable("\(session.address): \(target): it is missing after it was moved"))
            }
            return entry
        }
    }

    private func move(
        _ path: StoragePath, to target: StoragePath, _ version: String?, _ session: SFTPSession
    ) async throws(CallError) {
        guard let there = try await attributes(at: path, session) else { throw .storage(.notFound) }
        if let version, version != there.version {
            throw .storage(.changed(try await entry(path, there, session)))
        }
        if let taken = try await taken(target, session) { throw .storage(taken) }
        await forgetWholes(there, [session.path(path), session.path(target)])
        do throws(RequestFailure) {
            try await session.send(.rename(session.path(path), to: session.path(target))).done()
        } catch {
            if case .status(let status) = error, status.code == .failure,
                let taken = try await self.taken(target, session)
            {
                throw .storage(taken)
            }
            throw .request(error)
        }
    }

    /// What is at these paths is moved or removed: another file may have the same version there later.
    private func forgetWholes(_ there: SFTPAttributes, _ paths: [[UInt8]]) async {
        guard let notes else { return }
        await disk.run { () throws(Never) in
            if there.isFolder { notes.forgetWholes() } else { for path in paths { notes.forgetWhole(path) } }
        }
    }

    package func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        try check(path)
        do throws(PathStorageError) {
            try await call(path, isChange: true) { session async throws(CallError) in
                // A folder that looks empty may contain temporary files of ours.
                try await self.changing([path.parent ?? .root, path], session) { () async throws(CallError) in
                    try await self.remove(path, version, session)
                }
            }
        } catch .notFound {
            return
        }
    }

    private func remove(_ path: StoragePath, _ version: String?, _ session: SFTPSession) async throws(CallError) {
        guard let there = try await attributes(at: path, session) else { return }
        if there.isFile != (version != nil) || version != nil && there.version != version {
            throw .storage(.changed(try await entry(path, there, session)))
        }
        await forgetWholes(there, [session.path(path)])
        let request: SFTPRequest = there.isFolder ? .removeFolder(session.path(path)) : .remove(session.path(path))
        do throws(RequestFailure) { try await session.send(request).done() } catch {
            guard case .status(let status) = error, status.code == .failure, there.isFolder else {
                throw .request(error)
            }
            if try await isEmptied(path, session) {
                try await session.get { () async throws(RequestFailure) in
                    try await session.send(.removeFolder(session.path(path))).done()
                }
            } else {
                throw .storage(.notEmpty)
            }
        }
    }

    /// Whether a folder contained only old temporary files, which were removed.
    private func isEmptied(_ folder: StoragePath, _ session: SFTPSession) async throws(CallError) -> Bool {
        let path = session.path(folder)
        let handle = try await session.get { () async throws(RequestFailure) in
            try await session.send(.openFolder(path)).handle()
        }
        let names = try await names(handle, session).filter { !isDot($0.bytes) }
        guard !names.isEmpty, names.allSatisfy({ session.isLeftover($0, after: 600) }) else { return false }
        let removed = names.map { session.send(.remove(path + [UInt8(ascii: "/")] + $0.bytes)) }
        for reply in removed {
            do throws(RequestFailure) { try await reply.done() } catch {
                // Another client has removed it.
                if case .status(let status) = error, status.code == .noSuchFile { continue }
                throw .request(error)
            }
        }
        return true
    }

    private func isDot(_ name: [UInt8]) -> Bool { name == [UInt8(ascii: ".")] || name == Array("..".utf8) }

    /// Renames and new entries become durable with the next synced file if the server's filesystem orders such changes,
    /// as ext4 and XFS do.
    package func makeDurable() async throws(PathStorageError) {
        guard hasChanged.withLock({ $0 }) else { return }
        hasChanged.withLock { $0 = false }
        do throws(PathStorageError) {
            try await call(.root, isChange: false) { session async throws(CallError) in
                guard session.syncs else { return }
                let temporary = session.base + [UInt8(ascii: "/")] + TemporaryName.fresh()
                do throws(RequestFailure) {
                    let opening = session.send(.open(temporary, [.write, .create, .exclusive], mode: 0o600))
                    let handle = try await opening.handle()
                    try await session.send(.sync(handle.bytes)).done()
                    let closed = handle.close()
                    // Not visible in a store that is in sync.
                    let removed = session.send(.remove(temporary))
                    try await closed.done()
                    try await removed.done()
                } catch {
                    self.clear(temporary, session)
                    // If nothing can be created in the store's folder, this is the same as without fsync.
                    guard case .status = error else { throw .request(error) }
                }
            }
        } catch {
            hasChanged.withLock { $0 = true }
            throw error
        }
    }
}
