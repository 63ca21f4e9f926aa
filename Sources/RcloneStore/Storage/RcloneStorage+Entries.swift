import HTTPClient
import HTTPStorage
package import PathStore
package import ReplicaModel

extension RcloneStorage {
    package func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        guard refusal(of: path) == nil else { return nil }
        return try await call(path, isChange: false) { () async throws(CallError) in
            guard let item = try await self.find(path) else { return nil }
            return try await self.entry(item, path)
        }
    }

    /// The entry of a path, with the attributes that the remote keeps.
    func entry(_ item: RemoteItem, _ path: StoragePath) async throws(CallError) -> PathEntry {
        guard var entry = entry(of: item, at: path) else {
            throw .storage(.unavailable("\(path): the remote does not report its size or time"))
        }
        if abilities.asksForTimes, abilities.setsTimes, !item.isFolder {
            let told = try await stat(path, isFolder: false, withTime: true)
            entry.attributes.modificationDate = told?.time
        }
        return entry
    }

    /// The number of seconds after which no write can produce a time.
    private static let age: Int64 = 300

    /// - Returns: Nil if it has no version, such as documents that are generated when they are read.
    func entry(of item: RemoteItem, at path: StoragePath) -> PathEntry? {
        if item.isFolder { return PathEntry(path: path, kind: .folder) }
        guard let version = item.version(abilities.hash) else { return nil }
        var attributes = PathAttributes()
        if abilities.setsTimes, !abilities.asksForTimes { attributes.modificationDate = item.time }
        // A client that writes now sets the current time, as far as clocks agree.
        let isSettled = item.time.map { ServerTime.localNow - $0.seconds > Self.age } ?? false
        return PathEntry(
            path: path, kind: .file, version: version, size: item.size, attributes: attributes, isSettled: isSettled)
    }

    /// The entry at a path; nil if there is provably none.
    func find(_ path: StoragePath) async throws(CallError) -> RemoteItem? {
        if path == .root {
            try await get { () async throws(RcloneError) in try await expectRoot() }
            return RemoteItem(path: "", size: -1, isFolder: true)
        }
        if let item = try await stat(path, isFolder: false) { return item }
        if let item = try await stat(path, isFolder: true) { return item }
        // If the remote's own folder is missing, it appears empty, and nothing is proven.
        try await get { () async throws(RcloneError) in try await expectRoot() }
        return nil
    }

    /// Checks that the remote's folder exists. On a remote without empty folders it can only be checked that the remote
    /// answers.
    func expectRoot() async throws(RcloneError) {
        do throws(RcloneError) {
            let _: Stat = try await connection.ask("operations/stat", RcloneInput(root, ""))
        } catch {
            guard error.complaint?.isNotFound == true else { throw error }
            if !abilities.keepsEmptyFolders { return }
            throw .complaint(
                RcloneError.Complaint(status: 404, text: "directory not found: the store's folder is not there"))
        }
    }

    /// The same check with a time limit: rclone lists all of the root for it, and the daemon waits ten seconds for a store to open. A
    /// folder that is missing is found by the first call then.
    func expectRoot(within timeLimit: Duration) async throws(RcloneError) {
        let failure = await inTime(timeLimit, otherwise: nil) { () async -> RcloneError? in
            do throws(RcloneError) { try await self.expectRoot() } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    private struct Stat: Decodable {
        let item: RemoteItem?
    }

    /// rclone's description of a file or a folder. For an entry of the other kind, rclone reports that nothing exists.
    /// - Parameter withTime: Whether the time set by clients is needed, if the remote also has its own.
    func stat(
        _ path: StoragePath, isFolder: Bool, withTime: Bool = false
    ) async throws(CallError) -> RemoteItem? {
        var input = question(withTime: withTime)
        (input.fs, input.remote) = (root, text(path))
        if isFolder {
            input.opt = RcloneInput.Options()
            input.opt?.dirsOnly = true
        } else {
            input.opt?.filesOnly = true
        }
        let asked = input
        do throws(RcloneError) {
            let answer: Stat = try await connection.ask("operations/stat", asked)
            guard let item = answer.item else { return nil }
            guard item.path == asked.remote, item.isFolder == isFolder else { throw .strange }
            return item
        } catch {
            guard error.complaint?.isNotFound == true || error.complaint?.isFolder == true else {
                throw .request(error)
            }
            return nil
        }
    }

    /// The options for requesting files.
    private func question(withTime: Bool = false) -> RcloneInput {
        var input = RcloneInput(root)
        var options = RcloneInput.Options()
        if let hash = abilities.hash { (options.showHash, options.hashTypes) = (true, [hash]) }
        input.opt = options
        if abilities.asksForTimes, !withTime {
            var config = RcloneInput.Config()
            config.useServerModTime = true
            input.config = config
        }
        return input
    }

    /// The entry at a path, for an error that reports an unexpected state.
    func present(_ path: StoragePath) async throws(CallError) -> PathEntry? {
        guard let item = try await find(path) else { return nil }
        return try await entry(item, path)
    }

    /// Whether a folder exists.
    func hasFolder(_ path: StoragePath) async throws(CallError) -> Bool {
        if path == .root { return true }
        return try await stat(path, isFolder: true) != nil
    }

    // MARK: Listings

    package func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        guard refusal(of: folder) == nil else { throw .notFound }
        if let page {
            guard let kept = listings.take(page) else { throw .unreachable("the listing has expired") }
            return listings.page(of: kept)
        }
        return try await call(folder, isChange: false) { () async throws(CallError) in
            let items = try await self.items(of: folder, isDeep: isDeep)
            await self.removeStale(items)
            let entries = items.compactMap { place, item in
                self.refusal(of: place) == nil ? self.entry(of: item, at: place) : nil
            }
            return self.listings.page(of: .init(rest: entries))
        }
    }

    /// The entries of a folder, including the store's internal files.
    /// - Throws: ``PathStorageError/notFound`` if the folder is definitely gone.
    func items(
        of folder: StoragePath, isDeep: Bool = false
    ) async throws(CallError) -> [(place: StoragePath, item: RemoteItem)] {
        var input = question()
        input.remote = text(folder)
        if isDeep { input.opt?.recurse = true }
        let asked = input
        let items: [RemoteItem]
        do throws(RcloneError) {
            items = try await connection.repeating { () async throws(RcloneError) in
                // The results of different attempts must not be mixed.
                let reader = ListReader(limit: self.mostItems)
                do throws(RcloneError) {
                    try await self.connection.long("operations/list", asked, sink: { bytes, _ in reader.take(bytes) })
                } catch {
                    if reader.isTooLong {
                        throw .failure(.refused("\(folder): it has more than \(self.mostItems) entries"))
                    }
                    if case .unwanted = error { throw .strange }
                    throw error
                }
                guard let items = reader.finish() else { throw .strange }
                return items
            }
        } catch {
            guard error.complaint?.isNotFound == true else { throw .request(error) }
            try await get { () async throws(RcloneError) in try await expectRoot() }
            if folder == .root { return [] }
            throw .storage(.notFound)
        }
        // Some remotes without empty folders list folders that don't exist.
        if items.isEmpty, !isDeep, try await find(folder)?.isFolder != true { throw .storage(.notFound) }
        // Entries of other folders are ignored.
        return items.compactMap { item in
            guard let place = item.place, place != folder, place.isWithin(folder),
                isDeep || place.names.count == folder.names.count + 1
            else { return nil }
            return (place, item)
        }
    }
}
