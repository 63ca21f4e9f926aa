import ChildProcess
package import PathStore
package import ReplicaModel

extension SFTPStorage {
    /// The number of concurrent requests of a listing: to read on, and for attributes that the folder does not report.
    private static let (ahead, requests) = (4, 64)
    /// The number of seconds after which a temporary file is considered abandoned.
    private static let day: UInt32 = 86_400

    package func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        try await call(path, isChange: false) { session async throws(CallError) in
            try await self.entry(at: path, session)
        }
    }

    /// The entry at a path; nil if there is none that can be kept, and the store itself exists.
    func entry(at path: StoragePath, _ session: SFTPSession) async throws(CallError) -> PathEntry? {
        let asked = ContinuousClock.now
        guard let attributes = try await attributes(at: path, session) else { return nil }
        return try await entry(path, attributes, session, asked: asked)
    }

    /// The attributes of any entry at a path; nil if there is none, and the store itself exists.
    func attributes(at path: StoragePath, _ session: SFTPSession) async throws(CallError) -> SFTPAttributes? {
        let last = session.send(path == .root ? .stat(session.root) : .lstat(session.path(path)))
        if let attributes = try await session.get({ () async throws(RequestFailure) in
            try await last.presentAttributes()
        }) {
            return attributes
        }
        try await checkRoot(session)
        return nil
    }

    /// If the store itself is missing, no entry is proven to be gone.
    private func checkRoot(_ session: SFTPSession) async throws(CallError) {
        let root = try await session.get { () async throws(RequestFailure) in
            try await session.send(.stat(session.root)).presentAttributes()
        }
        guard root?.isFolder ?? false else {
            let path = String(decoding: session.root, as: UTF8.self)
            throw .storage(.unreachable("\(session.address): the directory \(path) no longer exists there"))
        }
    }

    /// An entry from its attributes; nil unless it is a file, folder or symlink.
    /// - Parameter asked: When the server was asked for them, or before.
    func entry(
        _ path: StoragePath, _ attributes: SFTPAttributes, _ session: SFTPSession,
        asked: ContinuousClock.Instant = .now
    ) async throws(CallError) -> PathEntry? {
        guard attributes.isSymlink else { return plainEntry(path, attributes, session, asked: asked) }
        do throws(RequestFailure) {
            return symlinkEntry(path, attributes, try await session.send(.readSymlink(session.path(path))).path())
        } catch {
            // It is no longer a symlink.
            if case .status(let status) = error, status.code == .noSuchFile { return nil }
            throw .request(error)
        }
    }

    private func symlinkEntry(_ path: StoragePath, _ attributes: SFTPAttributes, _ target: [UInt8]) -> PathEntry {
        PathEntry(path: path, kind: .symlink(target), attributes: kept(attributes))
    }

    /// For a file or a folder.
    func plainEntry(
        _ path: StoragePath, _ attributes: SFTPAttributes, _ session: SFTPSession,
        asked: ContinuousClock.Instant = .now
    ) -> PathEntry? {
        if attributes.isFolder || path == .root {
            var shown = attributes
            if let mode = attributes.mode {
                shown.mode = session.readOnlyFolders.mode(of: path, now: mode & 0o7777, asked: asked) | mode & ~0o7777
            }
            return PathEntry(path: path, kind: .folder, attributes: kept(shown))
        }
        guard attributes.isFile, let size = attributes.size, let times = attributes.times else { return nil }
        return PathEntry(
            path: path, kind: .file, version: attributes.version, size: Int64(clamping: size),
            attributes: kept(attributes), isSettled: session.clock.hasPassed(times.modification))
    }

    private func kept(_ told: SFTPAttributes) -> PathAttributes {
        var attributes = PathAttributes()
        if abilities.keepsModes, let mode = told.mode, !told.isSymlink { attributes.mode = UInt16(mode & 0o7777) }
        // A folder's time changes with every entry created in it.
        if abilities.keepsTimes, !told.isFolder, let times = told.times {
            attributes.modificationDate = Timestamp(seconds: Int64(times.modification), nanoseconds: 0)
        }
        return attributes
    }

    // MARK: Listing

    package func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        if isDeep { throw .unsupported("deep listings") }
        return try await call(folder, isChange: false) { session async throws(CallError) in
            try await self.page(of: folder, session)
        }
    }

    private func page(of folder: StoragePath, _ session: SFTPSession) async throws(CallError) -> PathPage {
        let asked = ContinuousClock.now
        let opening = session.send(.openFolder(session.path(folder)))
        // A symlink to a folder would be opened as well.
        guard let attributes = try await attributes(at: folder, session), attributes.isFolder else {
            throw .storage(.notFound)
        }
        let handle = try await session.get { () async throws(RequestFailure) in try await opening.handle() }
        let names = try await names(handle, session)
        for name in names where session.isLeftover(name, after: Self.day) {
            _ = session.send(.remove(session.path(folder) + [UInt8(ascii: "/")] + name.bytes))
        }
        var (entries, pending): ([PathEntry], [(StoragePath, SFTPAttributes?, PendingReply)]) = ([], [])
        var leftOut = LeftOutNames()
        for name in names where !TemporaryName.isOne(name.bytes) {
            let path = folder.appending(FileName(bytes: name.bytes))
            guard FileName(bytes: name.bytes).isValid else {
                if !Self.ownNames.contains(name.bytes) { leftOut.add(SanitizedText.of(name.bytes)) }
                continue
            }
            if name.attributes.mode == nil {
                pending.append((path, nil, session.send(.lstat(session.path(path)))))
            } else if name.attributes.isSymlink {
                pending.append((path, name.attributes, session.send(.readSymlink(session.path(path)))))
            } else if let entry = plainEntry(path, name.attributes, session, asked: asked) {
                entries.append(entry)
            }
            if pending.count == Self.requests { try await take(pending.removeFirst(), into: &entries, session, asked) }
        }
        for one in pending { try await take(one, into: &entries, session, asked) }
        return PathPage(entries: entries, leftOut: leftOut)
    }

    /// The names of a folder itself and of the one above, which servers list too.
    private static let ownNames = [Array(".".utf8), Array("..".utf8)]

    /// Handles the answer about an entry that the folder did not report completely.
    private func take(
        _ one: (path: StoragePath, told: SFTPAttributes?, reply: PendingReply), into entries: inout [PathEntry],
        _ session: SFTPSession, _ asked: ContinuousClock.Instant
    ) async throws(CallError) {
        do throws(RequestFailure) {
            if let told = one.told {
                entries.append(symlinkEntry(one.path, told, try await one.reply.path()))
                return
            }
        } catch {
            // It was removed since, or replaced by an entry that is not a symlink.
            guard case .status = error else { throw .request(error) }
            if let entry = try await entry(at: one.path, session) { entries.append(entry) }
            return
        }
        let told = try await session.get { () async throws(RequestFailure) in
            try await one.reply.presentAttributes()
        }
        if let told, let entry = try await entry(one.path, told, session, asked: asked) { entries.append(entry) }
    }

    /// All names in an open folder.
    func names(_ handle: RemoteHandle, _ session: SFTPSession) async throws(CallError) -> [SFTPReply.Name] {
        var names: [SFTPReply.Name] = []
        var pending = (0..<Self.ahead).map { _ in session.send(.readFolder(handle.bytes)) }
        while true {
            let reply = pending.removeFirst()
            guard
                let more = try await session.get({ () async throws(RequestFailure) in try await reply.names() })
            else { return names }
            names += more
            // `.` and `..` are listed too.
            let most = session.connection.limits.mostEntries
            guard names.count <= most + 2 else {
                throw .storage(.unavailable("a folder has more than \(most) entries"))
            }
            pending.append(session.send(.readFolder(handle.bytes)))
        }
    }
}

extension SFTPAttributes {
    /// The version of a file's content, as precise as the attributes allow.
    var version: String? {
        guard let size, let times else { return nil }
        return "\(times.modification)-\(size)"
    }
}
