import Glibc
package import PathStore
package import ReplicaModel
import SystemPackage
import Threads

extension SFTPStorage {
    package func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard condition: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        try check(path)
        return try await call(path, isChange: true) { session async throws(CallError) in
            let folder = session.path(path.parent ?? .root)
            let temporary = folder + [UInt8(ascii: "/")] + TemporaryName.fresh()
            do throws(CallError) {
                let upload = Upload(storage: self, session: session, path: path, temporary: temporary)
                return try await upload.run(contents, attributes, condition)
            } catch {
                var error = error
                // Whether the disk is full is determined before the temporary file is removed.
                if case .request(let failure) = error, case .status = failure {
                    error = .storage(await self.meaning(of: failure, path, isChange: true, session))
                }
                self.clear(temporary, session)
                throw error
            }
        }
    }

    /// Removes a temporary file: now, or when the server is reached again.
    func clear(_ temporary: [UInt8], _ session: SFTPSession) {
        // Noted first: the next connection may exist before the loss of this one is known.
        reconnector.removeLater(temporary)
        let reply = session.send(.remove(temporary))
        Task { [reconnector] in
            do throws(RequestFailure) { try await reply.done() } catch {
                if case .lost = error { return }
            }
            reconnector.isRemoved(temporary)
        }
    }

    /// - Throws: ``PathStorageError/refused(_:)`` for our own names, and for names that a server may change.
    func check(_ path: StoragePath) throws(PathStorageError) {
        guard let name = path.name else { throw .refused("the root can't be changed") }
        if TemporaryName.isOne(name.bytes) { throw .refused("names starting with .replica-tmp- are reserved") }
        // rclone lists them as other characters, which would give two files.
        if !abilities.linksExclusively, name.bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw .refused("this server may change names with control characters")
        }
    }

    /// The unexpected entry at the path.
    func taken(_ path: StoragePath, _ session: SFTPSession) async throws(CallError) -> PathStorageError? {
        guard let attributes = try await attributes(at: path, session) else { return nil }
        guard let entry = try await entry(path, attributes, session) else {
            return .refused(
                "\(session.address): \(path): the name is taken there by something that is not a file, folder or symlink"
            )
        }
        return .taken(entry)
    }
}

/// One file during its upload.
struct Upload {
    let storage: SFTPStorage
    let session: SFTPSession
    let path: StoragePath
    let temporary: [UInt8]
    private var target: [UInt8] { session.path(path) }

    init(storage: SFTPStorage, session: SFTPSession, path: StoragePath, temporary: [UInt8]) {
        (self.storage, self.session, self.path, self.temporary) = (storage, session, path, temporary)
    }

    func run(
        _ contents: ItemContents, _ attributes: PathAttributes, _ condition: WriteGuard
    ) async throws(CallError) -> PathEntry {
        // The condition is checked before anything is sent, and again right before publishing.
        let before = try await check(condition)
        let mode = attributes.mode.map { UInt32($0) }
        let handle = try await session.get { () async throws(RequestFailure) in
            try await session.send(.open(temporary, [.write, .create, .exclusive], mode: mode == nil ? nil : 0o600))
                .handle()
        }
        let end = try await send(contents, to: handle)
        let written = try await finish(handle, contents.size, end, attributes, before)
        guard let entry = storage.plainEntry(path, written, session), entry.size == contents.size else {
            throw .storage(
                .unreachable(
                    "\(session.address): \(path): the server received a different number of bytes than was sent"))
        }
        switch condition {
        case .absent: try await publish()
        case .version: try await replace(condition)
        }
        contents.progress(contents.size)
        return entry
    }

    /// - Returns: The entry to be replaced.
    private func check(_ condition: WriteGuard) async throws(CallError) -> SFTPAttributes? {
        switch condition {
        case .absent:
            if let taken = try await storage.taken(path, session) { throw .storage(taken) }
            return nil
        case .version(let version):
            guard let attributes = try await storage.attributes(at: path, session) else { throw .storage(.notFound) }
            guard attributes.isFile, attributes.version == version else {
                throw .storage(.changed(try await storage.entry(path, attributes, session)))
            }
            return attributes
        }
    }

    // MARK: Contents

    /// - Returns: The end of the last data that was sent.
    private func send(_ contents: ItemContents, to handle: RemoteHandle) async throws(CallError) -> Int64 {
        var pending: [(end: Int64, reply: PendingReply)] = []
        func take() async throws(CallError) {
            let (end, reply) = pending.removeFirst()
            try await session.get { () async throws(RequestFailure) in try await reply.done() }
            contents.progress(end)
        }
        // The range behind its end looks like a hole.
        var found = stat()
        guard contents.size == 0 || fstat(contents.file.rawValue, &found) == 0 && Int64(found.st_size) >= contents.size
        else { throw Self.endsEarly }
        var (next, end): (Int64, Int64) = (0, 0)
        while let part = try await data(of: contents, from: next) {
            var offset = part.lowerBound
            while offset < part.upperBound {
                let count = Int(min(Int64(session.sizes.write), part.upperBound - offset))
                let bytes = try await read(contents, at: offset, count)
                if pending.count == SFTPStorage.window { try await take() }
                let reply = try await session.transfer(.write(handle.bytes, at: offset, bytes))
                offset += Int64(count)
                pending.append((offset, reply))
            }
            (next, end) = (part.upperBound, part.upperBound)
        }
        while !pending.isEmpty { try await take() }
        return end
    }

    private static let endsEarly = CallError.storage(.refused("the content is shorter than declared"))

    /// The next part that has data; holes are not sent.
    private func data(of contents: ItemContents, from offset: Int64) async throws(CallError) -> Range<Int64>? {
        guard offset < contents.size else { return nil }
        return await storage.disk.run { () throws(Never) in
            var ranges = DataRanges(of: contents.file, in: offset..<contents.size)
            return ranges.next()
        }
    }

    private func read(_ contents: ItemContents, at offset: Int64, _ count: Int) async throws(CallError) -> [UInt8] {
        let bytes = await storage.disk.run { () throws(Never) -> [UInt8]? in
            var done = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                while done < count {
                    let file = contents.file.rawValue
                    let got = pread(file, buffer.baseAddress! + done, count - done, off_t(offset) + off_t(done))
                    if got < 0, errno == EINTR { continue }
                    guard got > 0 else { break }
                    done += got
                }
                filled = done
            }
            return done == count ? bytes : nil
        }
        guard let bytes else { throw Self.endsEarly }
        return bytes
    }

    // MARK: Attributes

    /// Gives the file its attributes, syncs and closes it.
    private func finish(
        _ handle: RemoteHandle, _ size: Int64, _ end: Int64, _ attributes: PathAttributes, _ before: SFTPAttributes?
    ) async throws(CallError) -> SFTPAttributes {
        let moment = ContinuousClock.now
        let fresh = session.send(.fstat(handle.bytes))
        let made = try await session.get { () async throws(RequestFailure) in try await fresh.attributes() }
        if size > 0, end > 0, let times = made.times { session.clock.note(times.modification, at: moment) }
        let wanted = wanted(attributes, before, made, size, end)
        let set = wanted == SFTPAttributes() ? nil : session.send(.set(wanted, ofHandle: handle.bytes))
        let synced = session.syncs ? session.send(.sync(handle.bytes)) : nil
        let last = session.send(.fstat(handle.bytes))
        let closed = handle.close()
        return try await session.get { () async throws(RequestFailure) in
            try await set?.done()
            try await synced?.done()
            let attributes = try await last.attributes()
            try await closed.done()
            return attributes
        }
    }

    /// The attributes that the file has to get.
    private func wanted(
        _ attributes: PathAttributes, _ before: SFTPAttributes?, _ made: SFTPAttributes, _ size: Int64, _ end: Int64
    ) -> SFTPAttributes {
        var wanted = SFTPAttributes()
        if end < size { wanted.size = UInt64(size) }
        if storage.abilities.keepsModes {
            wanted.mode = attributes.mode.map { UInt32($0) } ?? before?.mode.map { $0 & 0o7777 }
        }
        // Only root can change the owner; for others it stays unchanged.
        if let owner = before?.owner, made.owner?.user == 0, owner != made.owner { wanted.owner = owner }
        if storage.abilities.keepsTimes {
            var time = attributes.modificationDate?.sftp ?? made.times?.modification ?? 0
            // New content must never have the version of the content that it replaces.
            if let before, before.size == UInt64(size), before.times?.modification == time { time &+= 1 }
            wanted.times = SFTPAttributes.Times(access: made.times?.access ?? time, modification: time)
        }
        return wanted
    }

    // MARK: Publishing

    /// Publishes the file under a name that must be free.
    private func publish() async throws(CallError) {
        if storage.abilities.linksExclusively {
            let link = session.send(.hardLink(temporary, at: target))
            let removed = session.send(.remove(temporary))
            do throws(RequestFailure) {
                try await link.done()
                // If the temporary file stays, the content is published under its name anyway.
                if case .failure = await outcome(of: removed) { storage.clear(temporary, session) }
            } catch {
                if case .status(let status) = error, status.code == .failure,
                    let taken = try await storage.taken(path, session)
                {
                    throw .storage(taken)
                }
                throw .request(error)
            }
        } else {
            // The server may replace an existing file: this check is the only protection.
            if let taken = try await storage.taken(path, session) { throw .storage(taken) }
            try await session.get { () async throws(RequestFailure) in
                try await session.send(.rename(temporary, to: target)).done()
            }
        }
    }

    private func outcome(of reply: PendingReply) async -> Result<Void, RequestFailure> {
        do throws(RequestFailure) { return .success(try await reply.done()) } catch { return .failure(error) }
    }

    /// Publishes the file in the place of another one.
    private func replace(_ condition: WriteGuard) async throws(CallError) {
        _ = try await check(condition)
        if session.replaces {
            switch await outcome(of: session.send(.replace(target, with: temporary))) {
            case .success: return
            case .failure(.status(let status)) where status.code == .unsupported: break
            case .failure(let error): throw .request(error)
            }
        }
        // Some servers replace the target of a plain rename; the protocol makes it an error, so the target is removed
        // first.
        switch await outcome(of: session.send(.rename(temporary, to: target))) {
        case .success: return
        case .failure(.status(let status)) where status.code == .failure: break
        case .failure(let error): throw .request(error)
        }
        try await session.get { () async throws(RequestFailure) in
            try await session.send(.remove(target)).done()
            try await session.send(.rename(temporary, to: target)).done()
        }
    }
}

extension Timestamp {
    /// The seconds of the protocol: 1970 to 2106, clamped.
    var sftp: UInt32 { UInt32(clamping: seconds) }
}
