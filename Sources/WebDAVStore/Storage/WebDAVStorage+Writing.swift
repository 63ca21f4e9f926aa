import ChildProcess
import HTTPClient
import HTTPStorage
package import PathStore
package import ReplicaModel
import SystemPackage
import Threads

extension WebDAVStorage {
    package func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard condition: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        if let refusal = refusal(of: path) { throw .refused(refusal) }
        guard path != .root else { throw .taken(nil) }
        await sweep()
        return try await call(path, isChange: true) { () async throws(CallError) in
            let tag =
                switch condition {
                case .absent: try await self.create(path, contents, attributes)
                case .version(let version): try await self.replace(path, version, contents, attributes)
                }
            return try await self.written(path, contents.size, tag, attributes)
        }
    }

    /// - Returns: The new file's ETag, if it is known.
    private func create(
        _ path: StoragePath, _ contents: ItemContents, _ attributes: PathAttributes
    ) async throws(CallError) -> Resource.Tag? {
        if abilities.makesParents, try await !hasFolder(for: path) { throw .storage(.notFound) }
        let time = timeHeader(attributes)
        if isChunked(contents.size) {
            try await putChunks(contents, at: path, time, test: nil)
            return nil
        }
        switch abilities.creation {
        case .conditional:
            return try await put(contents, at: path, time + [("If-None-Match", "*")], isCreate: true)
        case .afterCheck:
            if let there = try await present(path) { throw .storage(.taken(there)) }
            return try await put(contents, at: path, time, isCreate: true)
        case .moved:
            let temporary = temporaryPath(beside: path)
            var isSent = false
            do throws(CallError) {
                try await put(contents, at: temporary, time)
                isSent = true
                try await publish(temporary, as: path, mayReplace: false)
            } catch {
                await forget(temporary, mayAppear: !isSent && error.isUnanswered)
                throw try await refused(error, path, isCreate: true)
            }
            return nil
        }
    }

    /// - Returns: The new file's ETag, if it is known.
    private func replace(
        _ path: StoragePath, _ version: String, _ contents: ItemContents, _ attributes: PathAttributes
    ) async throws(CallError) -> Resource.Tag? {
        guard let before = try await find(path) else { throw .storage(.notFound) }
        guard !before.resource.isFolder, before.resource.version == version else {
            throw .storage(.changed(try entry(before, path)))
        }
        let time = timeHeader(attributes)
        guard !abilities.writesWhole else {
            do throws(CallError) {
                if isChunked(contents.size) {
                    try await putChunks(contents, at: path, time, test: before.resource)
                    return nil
                }
                let test = condition(before.resource, abilities.replacesConditionally)
                return try await put(contents, at: path, time + test, before: before.resource)
            } catch {
                guard case .storage(.taken(let there)) = error else { throw error }
                if let there, there.version != version { throw .storage(.changed(there)) }
                throw .storage(.unreachable("\(path): the server rejects a precondition that holds"))
            }
        }
        let temporary = temporaryPath(beside: path)
        var isSent = false
        do throws(CallError) {
            try await put(contents, at: temporary, time)
            isSent = true
            // The upload took some time.
            guard let now = try await find(path) else { throw .storage(.notFound) }
            guard now.resource.version == version else { throw .storage(.changed(try entry(now, path))) }
            try await publish(temporary, as: path, mayReplace: true)
        } catch {
            await forget(temporary, mayAppear: !isSent && error.isUnanswered)
            throw error
        }
        return nil
    }

    /// The header that sets a file's time on servers that accept it from clients.
    private func timeHeader(_ attributes: PathAttributes) -> [(name: String, value: String)] {
        guard abilities.hasNumbers, let date = attributes.modificationDate, date.seconds > 0 else { return [] }
        return [("X-OC-Mtime", String(date.seconds))]
    }

    /// The precondition that a file has not changed. Folders have none: Nextcloud (sabre/dav 4) tells their ETags, but refuses every
    /// `If-Match` on them, and an ETag of all that is below them says nothing about the folder itself.
    func condition(_ resource: Resource, _ isTested: Bool) -> [(name: String, value: String)] {
        guard isTested, !resource.isFolder, let tag = resource.tag, !tag.isWeak else { return [] }
        return [("If-Match", tag.header)]
    }

    /// - Parameter before: The file that is replaced; nil if there is none.
    /// - Returns: The ETag in the answer, if such ETags are those of the file.
    @discardableResult
    private func put(
        _ contents: ItemContents, at path: StoragePath, _ condition: [(name: String, value: String)],
        before: Resource? = nil, isCreate: Bool = false
    ) async throws(CallError) -> Resource.Tag? {
        var request = WebDAVRequest("PUT", path.names, headers: condition)
        // An empty content needs no file.
        request.body = contents.size == 0 ? .none : .file(contents.file.rawValue, 0..<contents.size)
        (request.sent, request.longestSilence) = (contents.progress, 120)
        do throws(CallError) {
            let answer = contents.size == 0 ? try await sendEmpty(request, path, before) : try await send(request)
            return abilities.answersTags ? answer.head["etag"].flatMap(Resource.Tag.init) : nil
        } catch {
            let error = try await refused(error, path, isCreate: isCreate)
            guard contents.size > 0, error.request?.status == 500 else { throw error }
            throw .storage(.unavailable(SanitizedText.of("\(path): \(Self.words(of: error))")))
        }
    }

    /// What a server says that can't store a content, without a known reason (500). lighttpd and nginx answer so where their disk is full,
    /// and don't say that it is; others may still fit. Nextcloud answers so to names such as `.htaccess`.
    private static func words(of error: CallError) -> String {
        guard case .complaint(let complaint) = error.request, !complaint.message.isEmpty else {
            return "the server can't store it (500): its disk may be full"
        }
        return "the server can't store it, perhaps because of its name: \(complaint.words)"
    }

    /// Sends an upload without content. If the connection ends instead of an answer, it is sent a second time once a look has shown that
    /// nothing has changed. A server that ends it again will always do so (the process of Cyrus 3.6.1 crashes): that is a failure of this
    /// file alone, because other requests are answered.
    private func sendEmpty(
        _ request: WebDAVRequest, _ path: StoragePath, _ before: Resource?
    ) async throws(CallError) -> HTTPAnswer {
        for _ in 0..<2 {
            do throws(CallError) { return try await send(request) } catch {
                guard case .failure(.unreachable) = error.request else { throw error }
                let now = try await find(path)
                // Perhaps by this request: the store finds that out. A temporary name is nobody else's.
                if before == nil, let now, path.name.map(Self.isTemporary) != true {
                    throw .storage(.taken(try entry(now, path)))
                }
                guard now?.resource.version == before?.version else { throw error }
            }
        }
        throw .storage(
            .unavailable("\(path): the server can't store an empty file: it ends the connection without an answer"))
    }

    /// Why a path was not created or replaced.
    /// - Parameter isCreate: Whether the path had to be free.
    func refused(_ error: CallError, _ path: StoragePath, isCreate: Bool) async throws(CallError) -> CallError {
        guard let failure = error.request, let status = failure.status,
            [400, 403, 404, 405, 409, 410, 412, 500].contains(status)
        else { return error }
        if let there = try await present(path) {
            return isCreate || status == 412 || there.kind != .file ? .storage(.taken(there)) : error
        }
        guard try await hasFolder(for: path) else { return .storage(.notFound) }
        return status == 412 ? .storage(.changed(nil)) : error
    }

    /// Whether the parent folder exists.
    func hasFolder(for path: StoragePath) async throws(CallError) -> Bool {
        guard let parent = path.parent else { return false }
        return try await find(parent)?.resource.isFolder == true
    }

    /// The file that was just written, with its attributes.
    private func written(
        _ path: StoragePath, _ size: Int64, _ tag: Resource.Tag?, _ attributes: PathAttributes
    ) async throws(CallError) -> PathEntry {
        guard var found = try await find(path) else {
            throw .storage(.unreachable("\(path): it disappeared right after it was written"))
        }
        // Another client may have written at the same time: its content would be recorded under our version and never
        // be fetched.
        guard !found.resource.isFolder, found.resource.size == size, tag?.isSame(as: found.resource.tag) ?? true else {
            throw .storage(.unreachable("\(path): another client has written it since"))
        }
        try await patch(attributes, path, &found.resource)
        return try entry(found, path)
    }

    /// Gives an uploaded file its name.
    /// - Throws: `.unreachable` if the move was refused but has happened, as when a proxy sends the request twice: what the path has
    ///   by now is found out by the next attempt, like after a lost answer.
    private func publish(_ temporary: StoragePath, as path: StoragePath, mayReplace: Bool) async throws(CallError) {
        do throws(CallError) {
            try await send(move(temporary, to: path, isFolder: false, mayReplace: mayReplace))
        } catch {
            guard let status = error.request?.status, try await find(temporary) == nil else { throw error }
            throw .storage(.unreachable("\(path): the server answers \(status) to a move that has happened"))
        }
    }

    // MARK: Temporary files

    /// A temporary name for a file in the same folder.
    func temporaryPath(beside path: StoragePath) -> StoragePath {
        let name = FileName("\(Self.temporaryPrefix)\(UInt64.random(in: 0 ... .max))")
        return (path.parent ?? .root).appending(name)
    }

    /// How long a server may take to notice that an upload has ended.
    private static let longestNotice = Duration.seconds(60)

    /// How long a name is not looked at again after the server has answered about it.
    private static let rest = Duration.seconds(10)

    /// An internal file that may be there.
    struct Leftover {
        /// Until when it may appear.
        var end: ContinuousClock.Instant
        /// When it is looked at again.
        var next = ContinuousClock.now
    }

    /// Removes an internal file, also in a cancelled task. If it stays, it is removed with the next change, or after a
    /// day.
    /// - Parameter mayAppear: Whether its upload may have been cut: until the server notices that, what was removed may come back.
    func forget(_ path: StoragePath, mayAppear: Bool = false) async {
        leftovers.withLock { $0[path] = Leftover(end: .now + (mayAppear ? Self.longestNotice : .zero)) }
        await Task { await sweep() }.value
    }

    /// Removes files that could not be removed before, or may have come back.
    func sweep() async {
        // Each is taken by one of the calls that come here at the same time.
        let due = leftovers.withLock { leftovers in
            let due = leftovers.filter { $0.value.next <= .now }
            for path in due.keys { leftovers[path]?.next = .now + Self.rest }
            return due
        }
        var isReached = true
        for (path, leftover) in due {
            guard isReached else {
                leftovers.withLock { $0[path]?.next = leftover.next }
                continue
            }
            let request = WebDAVRequest("DELETE", path.names, headers: WebDAVRequest.forGood)
            do throws(WebDAVError) { _ = try await connection.send(request) } catch {
                guard error.status == 404 else {
                    isReached = error.status != nil
                    if !isReached { leftovers.withLock { $0[path]?.next = leftover.next } }
                    continue
                }
                // If it can't be read, it is tried again.
                do throws(CallError) { guard try await find(path) == nil else { continue } } catch {
                    isReached = !error.isUnanswered
                    continue
                }
            }
            if leftover.end <= .now { leftovers.withLock { _ = $0.removeValue(forKey: path) } }
        }
    }

    /// Removes abandoned temporary files.
    func removeStale(_ children: [Resource], _ now: Int64?) async {
        for child in children {
            guard !child.isFolder, let name = child.names.last, Self.isTemporary(name), let modified = child.modified,
                let now, now - modified > 86_400
            else { continue }
            await forget(StoragePath(child.names))
        }
    }
}
