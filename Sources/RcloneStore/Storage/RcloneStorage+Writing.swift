import HTTPClient
package import PathStore
package import ReplicaModel
import Threads

extension RcloneStorage {
    /// The size in bytes from which a new file is first sent under a temporary name: it takes so long that another
    /// client may create the file meanwhile.
    private static let long: Int64 = 4 << 20

    package func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard condition: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        if let refusal = refusal(of: path) { throw .refused(refusal) }
        guard path != .root else { throw .taken(nil) }
        await sweep()
        return try await call(path, isChange: true) { () async throws(CallError) in
            let former = try await self.test(condition, path)
            var time = attributes.modificationDate
            if let former, let wanted = time { time = self.abilities.time(wanted, over: former, size: contents.size) }
            let parcel = try await self.parcel(contents, time)
            do throws(CallError) {
                if condition == .absent, contents.size >= Self.long, self.abilities.movesFiles {
                    try await self.sendAside(parcel, path, contents)
                } else {
                    try await self.send(parcel, to: path, contents)
                }
            } catch {
                self.outbox.discard(parcel)
                guard error.complaint?.isFolder == true || error.complaint?.isNotFound == true else { throw error }
                if let there = try await self.present(path), there.kind != .file { throw .storage(.taken(there)) }
                guard try await self.stat(path.parent ?? .root, isFolder: true) != nil else {
                    throw .storage(.notFound)
                }
                throw error
            }
            let hash = await self.hash(of: parcel, contents.size)
            self.outbox.discard(parcel)
            let entry = try await self.written(path, contents.size, parcel.time, hash)
            contents.progress(contents.size)
            return entry
        }
    }

    private func parcel(_ contents: ItemContents, _ time: Timestamp?) async throws(CallError) -> OutgoingFiles.Parcel {
        let outbox = outbox
        let made = await disk.run { () throws(Never) in
            Result { () throws(RcloneError) in try outbox.parcel(contents, time) }
        }
        guard let parcel = try await get({ () throws(RcloneError) in try made.get() }) else {
            throw .storage(.refused("the content is shorter than declared"))
        }
        return parcel
    }

    /// Checks the condition.
    /// - Returns: The entry to be replaced.
    @discardableResult
    private func test(_ condition: WriteGuard, _ path: StoragePath) async throws(CallError) -> RemoteItem? {
        switch condition {
        case .absent:
            if let item = try await stat(path, isFolder: false) { throw .storage(.taken(try await entry(item, path))) }
            // If folders are only parts of names, a file may have the same name as a folder.
            if !abilities.keepsEmptyFolders, let item = try await stat(path, isFolder: true) {
                throw .storage(.taken(try await entry(item, path)))
            }
            // rclone would create the parent folders, too.
            guard try await hasFolder(path.parent ?? .root) else {
                guard try await find(path.parent ?? .root)?.isFolder == true else { throw .storage(.notFound) }
                return nil
            }
            return nil
        case .version(let version):
            guard let item = try await find(path) else { throw .storage(.notFound) }
            guard !item.isFolder, item.version(abilities.hash) == version else {
                throw .storage(.changed(try await entry(item, path)))
            }
            return item
        }
    }

    /// Sends a file by rclone, which makes sure that an incomplete file is invisible or has another name.
    func send(_ parcel: OutgoingFiles.Parcel, to path: StoragePath, _ contents: ItemContents? = nil)
        async throws(CallError)
    {
        var input = RcloneInput(from: (parcel.folder, parcel.name), to: (root, text(path)))
        var config = RcloneInput.Config()
        // Also if the time and the size are the same.
        (config.ignoreTimes, config.partialSuffix) = (true, TemporaryName.suffix(ServerTime.localNow))
        input.config = config
        let asked = input
        try await get { () async throws(RcloneError) in
            // rclone counts what it sends: encrypted, and again after an error.
            let clamped = contents.map { contents in
                { @Sendable (count: Int64) in contents.progress(min(max(count, 0), contents.size)) }
            }
            try await connection.long("operations/copyfile", asked, progress: clamped)
        }
    }

    /// Sends a new file under a temporary name, and checks again before it gets its own.
    private func sendAside(
        _ parcel: OutgoingFiles.Parcel, _ path: StoragePath, _ contents: ItemContents
    ) async throws(CallError) {
        let aside = (path.parent ?? .root).appending(TemporaryName.made(ServerTime.localNow))
        underWay.withLock { _ = $0.insert(aside) }
        defer { underWay.withLock { _ = $0.remove(aside) } }
        do throws(CallError) {
            try await send(parcel, to: aside, contents)
            try await test(.absent, path)
            try await change(
                "operations/movefile", RcloneInput(from: (root, text(aside)), to: (root, text(path))))
        } catch {
            await forget(aside)
            throw error
        }
    }

    /// The maximum size in bytes of a sent file that is read again to compute its hash.
    private static let quick: Int64 = 1 << 30

    /// The hash of the sent content, in the remote's form; nil if there is none.
    private func hash(of parcel: OutgoingFiles.Parcel, _ size: Int64) async -> String? {
        guard let kind = abilities.hash, size <= Self.quick else { return nil }
        var input = RcloneInput(parcel.folder, parcel.name)
        input.hashType = kind
        // Without the hash, the check is weaker.
        let told: RcloneHash? = try? await connection.ask("operations/hashsumfile", input)
        return told?.hash
    }

    /// Whether a file has the sent content, as far as the remote reports it.
    private func isSent(_ item: RemoteItem, _ size: Int64, _ time: Timestamp?, _ hash: String?) -> Bool {
        guard !item.isFolder, item.size == size else { return false }
        if let kind = abilities.hash, let hash, !hash.isEmpty, let told = item.hashes?[kind], !told.isEmpty {
            return told == hash
        }
        guard let time, let isKept = abilities.hasTime(item, time) else { return true }
        return hasKeptTime.withLock { hasKept in
            hasKept = hasKept || isKept
            return isKept || !hasKept
        }
    }

    /// The file that was just written.
    private func written(
        _ path: StoragePath, _ size: Int64, _ time: Timestamp?, _ hash: String?
    ) async throws(CallError) -> PathEntry {
        guard let item = try await find(path) else {
            throw .storage(.unreachable("\(path): it disappeared right after it was written"))
        }
        // Another client may have written at the same time: its content would be recorded under our version and never
        // be fetched.
        guard isSent(item, size, time, hash) else {
            throw .storage(.unreachable("\(path): another client has written it since"))
        }
        return try await entry(item, path)
    }

    // MARK: Internal files

    /// Removes an internal file, also in a cancelled task. If it stays, it is removed with the next change.
    func forget(_ path: StoragePath) async {
        leftovers.withLock { _ = $0.insert(path) }
        await Task { await sweep() }.value
    }

    /// Removes files that could not be removed before.
    func sweep() async {
        for path in leftovers.withLock({ $0 }) {
            do throws(CallError) {
                try await change("operations/deletefile", RcloneInput(root, text(path)))
            } catch {
                guard error.complaint?.isNotFound == true else { return }
            }
            leftovers.withLock { _ = $0.remove(path) }
        }
    }

    /// Removes abandoned files, which are a day old by their names and their times. After a failure they are found
    /// again.
    func removeStale(_ items: [(place: StoragePath, item: RemoteItem)]) async {
        for (place, item) in items where !item.isFolder {
            guard let name = place.name, let start = TemporaryName.start(name), ServerTime.localNow - start > 86_400,
                item.time.map({ ServerTime.localNow - $0.seconds > 86_400 }) ?? true, !isUnderWay(place)
            else { continue }
            // What fails is found again by the next listing.
            try? await change("operations/deletefile", RcloneInput(root, text(place)))
        }
    }

    /// Whether this process is sending it, or it is rclone's temporary file of such a transfer.
    private func isUnderWay(_ place: StoragePath) -> Bool {
        underWay.withLock { $0 }.contains { own in
            guard own.parent == place.parent, let name = own.name else { return false }
            return place.name?.bytes.starts(with: name.bytes) == true
        }
    }

    /// Creates the file that keeps a folder.
    func mark(_ folder: StoragePath) async throws(CallError) {
        try await send(outbox.nothing, to: folder.appending(Self.folderMark))
    }

    /// Keeps a folder whose last entry was removed, if the remote has no empty folders.
    func keep(_ folder: StoragePath?) async throws(CallError) {
        guard let folder, folder != .root, !abilities.keepsEmptyFolders else { return }
        if try await stat(folder, isFolder: true) == nil { try await mark(folder) }
    }
}
