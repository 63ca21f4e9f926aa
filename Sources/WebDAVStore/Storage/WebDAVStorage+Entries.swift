import ChildProcess
import HTTPClient
import HTTPStorage
package import PathStore
package import ReplicaModel
import Threads

extension WebDAVConnection {
    /// The requested properties.
    private static func question(_ more: String) -> [UInt8] {
        Array(
            """
            <?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:" xmlns:R="\(Resource.own)" xmlns:C="\(Resource.cloud)">\
            <D:prop><D:resourcetype/><D:getcontentlength/><D:getetag/><D:getlastmodified/><R:mode/><R:mtime/>\(more)</D:prop>\
            </D:propfind>
            """.utf8)
    }
    private static let (plainQuestion, cloudQuestion) = (question(""), question("<C:fileid/><C:permissions/>"))

    /// The properties of the quota. Requested separately, because a server may have to add up all files for them.
    static let quotaQuestion = Array(
        """
        <?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:quota-available-bytes/><D:quota-used-bytes/>\
        </D:prop></D:propfind>
        """.utf8)

    /// The properties of a resource and, if requested, of its direct children.
    /// - Parameters:
    ///   - isAbsolute: Whether the names in the request and the answer start at the server's root.
    ///   - question: The requested properties; nil for those of an entry.
    /// - Returns: The resources, the server's clock, and what can't be read.
    func ask(
        _ names: [FileName], isFolder: Bool, withChildren: Bool, isAbsolute: Bool = false, question: [UInt8]? = nil
    ) async throws(WebDAVError) -> ([Resource], now: Int64?, leftOut: LeftOutNames) {
        try await repeating { () async throws(WebDAVError) in
            // The results of different attempts must not be mixed.
            let intake = Multistatus(isAbsolute ? address.root : address, asked: names)
            var request = WebDAVRequest(
                "PROPFIND", names,
                headers: [
                    ("Depth", withChildren ? "1" : "0"), ("Content-Type", "application/xml; charset=utf-8"),
                ])
            (request.isFolder, request.body) = (
                isFolder, .bytes(question ?? (isCloud.withLock { $0 } ? Self.cloudQuestion : Self.plainQuestion))
            )
            request.sink = { bytes, head in intake.take(bytes, head) }
            request.isAbsolute = isAbsolute
            request.mayRepeat = false
            let answer: HTTPAnswer
            do throws(WebDAVError) { answer = try await send(request) } catch {
                if case .unwanted = error { throw .strange }
                throw error
            }
            guard let resources = intake.finish(answer.head) else { throw .strange }
            if intake.isMissing { throw .complaint(WebDAVError.Complaint(status: 404)) }
            return (resources, answer.head["date"].flatMap(ServerTime.header), intake.leftOut)
        }
    }

    /// The properties of one resource.
    /// - Returns: Nil if the server returns "not found", which alone proves nothing.
    func find(_ names: [FileName], isFolder: Bool) async throws(WebDAVError) -> (Resource, now: Int64?)? {
        do throws(WebDAVError) {
            let (resources, now, _) = try await ask(names, isFolder: isFolder, withChildren: false)
            guard let resource = resources.first(where: { $0.names == names }) else { throw .strange }
            return (resource, now)
        } catch {
            if error.status == 404 || error.status == 410 { return nil }
            throw error
        }
    }
}

extension WebDAVStorage {
    package func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        guard refusal(of: path) == nil else { return nil }
        return try await call(path, isChange: false) { () async throws(CallError) in
            try await self.find(path).map { found throws(CallError) in try self.entry(found, path) }
        }
    }

    /// The resource at a path. Nil proves that there is none.
    func find(_ path: StoragePath) async throws(CallError) -> Found? {
        do throws(WebDAVError) {
            if let (resource, now) = try await connection.find(path.names, isFolder: path == .root) {
                return Found(resource: resource, now: now)
            }
        } catch {
            // Some servers answer this for a path below a file.
            guard let status = error.status, [400, 403, 405, 409].contains(status), let parent = path.parent,
                parent != .root, try await find(parent)?.resource.isFolder != true
            else { throw .request(error) }
            return nil
        }
        // A server that answers for the folder above is the WebDAV server, and not a proxy that knows nothing about it.
        guard let parent = path.parent else {
            throw .storage(.unreachable("the store's folder is missing"))
        }
        guard try await find(parent) != nil else { return nil }
        // A single "not found" may come from a proxy.
        return try await get { () async throws(WebDAVError) in
            try await connection.find(path.names, isFolder: false).map { Found(resource: $0, now: $1) }
        }
    }

    /// The resource found at a path.
    struct Found: Sendable {
        var resource: Resource
        /// The server's clock.
        var now: Int64?
    }

    func entry(_ found: Found, _ path: StoragePath) throws(CallError) -> PathEntry {
        guard let entry = found.resource.entry(now: found.now) else {
            throw .storage(.unavailable("\(path): the server does not report its size"))
        }
        return entry
    }

    /// The resource at a path, for an error that reports an unexpected state.
    func present(_ path: StoragePath) async throws(CallError) -> PathEntry? {
        try await find(path).map { found throws(CallError) in try entry(found, path) }
    }

    // MARK: Listings

    package func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        if isDeep { throw .unsupported("deep listings") }
        guard refusal(of: folder) == nil else { throw .notFound }
        if let page {
            guard let kept = listings.take(page) else { throw .unreachable("the listing has expired") }
            return listings.page(of: kept)
        }
        return try await call(folder, isChange: false) { () async throws(CallError) in
            let (children, now, leftOut) = try await self.children(of: folder)
            var place = OpenListings.Place(leftOut: leftOut)
            for child in children {
                guard let name = child.names.last, !Self.isTemporary(name) else { continue }
                if self.refusal(of: StoragePath(child.names)) == nil, let entry = child.entry(now: now) {
                    place.rest.append(entry)
                } else {
                    place.leftOut.add(SanitizedText.of(name.bytes))
                }
            }
            await self.removeStale(children, now)
            return self.listings.page(of: place)
        }
    }

    /// The direct entries of a folder, including the store's internal files, and what can't be read.
    func children(
        of folder: StoragePath
    ) async throws(CallError) -> ([Resource], now: Int64?, leftOut: LeftOutNames) {
        let answer: ([Resource], now: Int64?, leftOut: LeftOutNames)
        do throws(WebDAVError) {
            answer = try await connection.ask(folder.names, isFolder: true, withChildren: true)
        } catch {
            guard [400, 403, 404, 409, 410].contains(error.status ?? 0) else { throw .request(error) }
            if try await find(folder)?.resource.isFolder != true { throw .storage(.notFound) }
            throw .request(error)
        }
        let all = answer.0
        // It is an answer about this folder only if it contains the folder itself.
        guard let own = all.first(where: { $0.names == folder.names }) else { throw .request(.strange) }
        guard own.isFolder else { throw .storage(.notFound) }
        let children = all.filter { $0.names.count == folder.names.count + 1 && $0.names.starts(with: folder.names) }
        return (children, answer.now, answer.leftOut)
    }
}
