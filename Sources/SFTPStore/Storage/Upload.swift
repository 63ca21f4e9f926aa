import Glibc
import PathStore
import ReplicaModel
import SystemPackage
import Threads

/// One file during its upload.
struct Upload {
    let storage: SFTPStorage
    let session: SFTPSession
    let path: StoragePath
    private var target: [UInt8] { session.path(path) }

    /// The file under its temporary name.
    struct Draft {
        let temporary: [UInt8]
        let handle: RemoteHandle
        /// The parts; nil if it is sent as a whole.
        var parts: UploadParts?
        /// How many of them the server has already.
        var count = 0
    }

    func run(
        _ contents: ItemContents, _ attributes: PathAttributes, _ condition: WriteGuard
    ) async throws(CallError) -> PathEntry {
        // The condition is checked before anything is sent, and again right before publishing.
        let before = try await check(condition)
        let draft = try await begun(contents, attributes)
        do throws(CallError) {
            let end: Int64
            if let parts = draft.parts {
                end = try await send(parts, draft, condition)
            } else {
                end = try await send(contents, to: draft.handle)
            }
            let written = try await finish(draft, contents.size, end, attributes, before)
            guard let entry = storage.plainEntry(path, written, session), entry.size == contents.size else {
                throw hasOtherSize
            }
            let hashes = draft.parts?.hashes ?? []
            // From now on the temporary file may be the published one.
            draft.parts?.forget()
            try await storage.changing([path.parent ?? .root], session) { () async throws(CallError) in
                switch condition {
                case .absent: try await publish(draft.temporary)
                case .version: try await replace(condition, draft.temporary)
                }
            }
            await draft.parts?.keepWhole(entry, written, hashes)
            contents.progress(contents.size)
            return entry
        } catch {
            var error = error
            if draft.parts?.mayContinue(after: error) == true { throw error }
            // Whether the disk is full is determined before the temporary file is removed.
            if case .request(let failure) = error, case .status = failure {
                error = .storage(await storage.meaning(of: failure, path, isChange: true, session))
            }
            draft.parts?.forget()
            storage.clear(draft.temporary, session)
            throw error
        }
    }

    /// Opens the temporary file of an interrupted upload of the same content, or a new one.
    private func begun(_ contents: ItemContents, _ attributes: PathAttributes) async throws(CallError) -> Draft {
        let parts = await UploadParts(storage, session, contents, target)
        if let former = try await parts?.continued() {
            return Draft(temporary: former.temporary, handle: former.handle, parts: parts, count: former.count)
        }
        let temporary = session.path(path.parent ?? .root) + [UInt8(ascii: "/")] + TemporaryName.fresh()
        let mode: UInt32? = attributes.mode == nil ? nil : 0o600
        do throws(RequestFailure) {
            let opening = session.send(.open(temporary, [.write, .create, .exclusive], mode: mode))
            let handle = try await opening.handle()
            parts?.begin(temporary)
            return Draft(temporary: temporary, handle: handle, parts: parts)
        } catch {
            storage.clear(temporary, session)
            throw .request(error)
        }
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
        // The range behind its end looks like a hole.
        var found = stat()
        guard contents.size == 0 || fstat(contents.file.rawValue, &found) == 0 && Int64(found.st_size) >= contents.size
        else { throw Self.endsEarly }
        var pending = Pending(session: session)
        let end = try await send(contents, in: 0..<contents.size, to: handle, &pending)
        try await pending.takeAll()
        return end
    }

    /// Sends the parts that the server does not have.
    /// - Returns: The end of the last data that the server has to have.
    private func send(_ parts: UploadParts, _ draft: Draft, _ condition: WriteGuard) async throws(CallError) -> Int64 {
        let base = try await parts.base(condition)
        var pending = Pending(session: session)
        var hash = await parts.hash(draft.count)
        var end = draft.count > 0 ? parts.ranges[draft.count - 1].upperBound : 0
        for number in draft.count..<parts.ranges.count {
            let range = parts.ranges[number]
            // While this one is sent.
            async let following = parts.hash(number + 1)
            guard let known = hash else { throw Self.endsEarly }
            await parts.isSent(number, known)
            let isCopied = try await base?.copied(number, known, range, to: draft.handle)
            if isCopied == true {
                end = range.upperBound
            } else {
                // A copy that failed may have left something where this content has a hole.
                let last = try await send(
                    parts.contents, in: range, to: draft.handle, &pending, isDense: isCopied == false)
                end = max(end, last)
            }
            pending.add(session.send(.sync(draft.handle.bytes))) {
                parts.isSynced(number)
                parts.contents.progress(range.upperBound)
            }
            hash = await following
        }
        try await pending.takeAll()
        return end
    }

    /// Sends the data in a range.
    /// - Parameter isDense: Whether holes are sent too.
    /// - Returns: The end of the data.
    private func send(
        _ contents: ItemContents, in range: Range<Int64>, to handle: RemoteHandle, _ pending: inout Pending,
        isDense: Bool = false
    ) async throws(CallError) -> Int64 {
        var (next, end): (Int64, Int64) = (range.lowerBound, 0)
        while let part = try await data(of: contents, in: next..<range.upperBound, isDense: isDense) {
            var offset = part.lowerBound
            while offset < part.upperBound {
                let count = Int(min(Int64(session.sizes.write), part.upperBound - offset))
                let bytes = try await read(contents, at: offset, count)
                while pending.count >= SFTPStorage.window { try await pending.takeFirst() }
                let reply = try await session.transfer(.write(handle.bytes, at: offset, bytes))
                offset += Int64(count)
                let sent = offset
                pending.add(reply) { contents.progress(sent) }
            }
            (next, end) = (part.upperBound, part.upperBound)
        }
        return end
    }

    /// Requests that were not answered yet, in order.
    private struct Pending {
        let session: SFTPSession
        private var replies: [(reply: PendingReply, done: () -> Void)] = []

        init(session: SFTPSession) { self.session = session }

        var count: Int { replies.count }

        mutating func add(_ reply: PendingReply, _ done: @escaping () -> Void) { replies.append((reply, done)) }

        mutating func takeFirst() async throws(CallError) {
            let (reply, done) = replies.removeFirst()
            try await session.get { () async throws(RequestFailure) in try await reply.done() }
            done()
        }

        mutating func takeAll() async throws(CallError) {
            while !replies.isEmpty { try await takeFirst() }
        }
    }

    private static let endsEarly = CallError.storage(.refused("the content is shorter than declared"))

    /// The next part of a range that has data; holes are not sent.
    private func data(
        of contents: ItemContents, in range: Range<Int64>, isDense: Bool
    ) async throws(CallError) -> Range<Int64>? {
        guard !range.isEmpty else { return nil }
        if isDense { return range }
        return await storage.disk.run { () throws(Never) in
            var ranges = DataRanges(of: contents.file, in: range)
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
        _ draft: Draft, _ size: Int64, _ end: Int64, _ attributes: PathAttributes, _ before: SFTPAttributes?
    ) async throws(CallError) -> SFTPAttributes {
        let handle = draft.handle
        let moment = ContinuousClock.now
        let fresh = session.send(.fstat(handle.bytes))
        let made = try await session.get { () async throws(RequestFailure) in try await fresh.attributes() }
        // What the server lost must not become zeros.
        if let there = made.size, there < UInt64(end) { throw hasOtherSize }
        // The time of a file in parts may be one that it got before an interruption.
        if draft.parts == nil, size > 0, end > 0, let times = made.times {
            session.clock.note(times.modification, at: moment)
        }
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

    private var hasOtherSize: CallError {
        .storage(
            .unreachable("\(session.address): \(path): the server received a different number of bytes than was sent"))
    }

    /// The attributes that the file has to get.
    private func wanted(
        _ attributes: PathAttributes, _ before: SFTPAttributes?, _ made: SFTPAttributes, _ size: Int64, _ end: Int64
    ) -> SFTPAttributes {
        var wanted = SFTPAttributes()
        if made.size ?? UInt64(end) < UInt64(size) { wanted.size = UInt64(size) }
        if storage.abilities.keepsModes {
            wanted.mode = attributes.mode.map { UInt32($0) } ?? before?.mode.map { $0 & 0o7777 }
        }
        // Only root can change the owner; for others it stays unchanged.
        if let owner = before?.owner, made.owner?.user == 0, owner != made.owner { wanted.owner = owner }
        if storage.abilities.keepsTimes {
            var time = attributes.modificationDate?.sftp ?? made.times?.modification ?? 0
            // New content must never have the version of the content that it replaces.
            if let before, before.size == UInt64(size), before.times?.modification == time { time &+= 1 }
            // When it was last written, so that a listing before its publication does not take it for abandoned.
            let access = made.times.map { max($0.access, $0.modification) } ?? time
            wanted.times = SFTPAttributes.Times(access: access, modification: time)
        }
        return wanted
    }

    // MARK: Publishing

    /// Publishes the file under a name that must be free.
    private func publish(_ temporary: [UInt8]) async throws(CallError) {
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
    private func replace(_ condition: WriteGuard, _ temporary: [UInt8]) async throws(CallError) {
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
