import HTTPClient
import HTTPStorage
package import PathStore
import ReplicaModel

extension WebDAVConnection {
    /// Sets the store's own properties.
    /// - Parameter values: By name; without characters with a meaning in XML.
    /// - Returns: Whether the server has them now.
    func patch(
        _ names: [FileName], isFolder: Bool, _ values: [(name: String, value: String)]
    ) async throws(WebDAVError) -> Bool {
        // lighttpd only uses the first property of a set.
        let sets = values.map { "<D:set><D:prop><R:\($0.name)>\($0.value)</R:\($0.name)></D:prop></D:set>" }
        var request = WebDAVRequest(
            "PROPPATCH", names, headers: [("Content-Type", "application/xml; charset=utf-8")])
        request.isFolder = isFolder
        request.body = .bytes(
            Array(
                """
                <?xml version="1.0" encoding="utf-8"?><D:propertyupdate xmlns:D="DAV:" xmlns:R="\(Resource.own)">\
                \(sets.joined())</D:propertyupdate>
                """.utf8))
        let answer = try await send(request)
        // lighttpd reports nothing more.
        guard answer.head.status == 207 else { return true }
        guard let root = XMLReader.read(answer.body), root.name == "multistatus" else { throw .strange }
        let parts = root.children.flatMap(\.children).filter { $0.name == "propstat" }
        return !parts.isEmpty && parts.allSatisfy { Resource.status($0) == 200 }
    }
}

extension Resource.Note {
    /// The form in the store's own properties.
    var properties: [(name: String, value: String)] {
        var properties: [(name: String, value: String)] = []
        if let mode { properties.append(("mode", ModeAndTimeText.text(UInt32(mode & 0o7777)))) }
        if let date, let dateOf {
            properties.append(("mtime", "\(ModeAndTimeText.text(date)) \(Self.escaped(dateOf))"))
        }
        return properties
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

extension WebDAVStorage {
    package func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        if let refusal = refusal(of: path) { throw .refused(refusal) }
        guard kind == .folder else { throw .unsupported("WebDAV has files and folders only") }
        guard path != .root else { throw .taken(nil) }
        return try await call(path, isChange: true) { () async throws(CallError) in
            // Some servers create the parent folders, too.
            guard try await self.hasFolder(for: path) else { throw .storage(.notFound) }
            if let there = try await self.get({ () async throws(WebDAVError) in
                try await self.connection.find(path.names, isFolder: false)
            }) {
                throw .storage(.taken(try self.entry(Found(resource: there.0, now: there.now), path)))
            }
            var request = WebDAVRequest("MKCOL", path.names)
            request.isFolder = true
            do throws(CallError) { try await self.send(request) } catch {
                // It was sent twice, or another client created it at the same time: then the folder belongs to both.
                guard error.request?.status == 405, try await self.find(path)?.resource.isFolder == true else {
                    throw try await self.refused(error, path, isCreate: true)
                }
            }
            guard var found = try await self.find(path), found.resource.isFolder else { throw .request(.strange) }
            try await self.patch(attributes, path, &found.resource)
            return try self.entry(found, path)
        }
    }

    package func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        if let refusal = refusal(of: path) { throw .refused(refusal) }
        guard abilities.keepsProperties else { throw .unsupported("the server keeps no attributes") }
        return try await call(path, isChange: true) { () async throws(CallError) in
            guard var found = try await self.find(path) else { throw .storage(.notFound) }
            try await self.patch(attributes, path, &found.resource)
            return try self.entry(found, path)
        }
    }

    /// Sets the attributes that are not nil on a resource that was just read.
    func patch(
        _ attributes: PathAttributes, _ path: StoragePath, _ resource: inout Resource
    ) async throws(CallError) {
        guard abilities.keepsProperties else { return }
        var wanted = Resource.Note()
        wanted.mode = attributes.mode
        // If the server has the same time itself, no property is needed.
        let told = resource.modified.map { Timestamp(seconds: $0, nanoseconds: 0) }
        if !resource.isFolder, let date = attributes.modificationDate,
            date != told || resource.note.dateOf == resource.version
        {
            (wanted.date, wanted.dateOf) = (date, resource.version)
        }
        let (values, isFolder) = (wanted.properties, resource.isFolder)
        guard !values.isEmpty else { return }
        let isDone = try await get { () async throws(WebDAVError) in
            try await connection.patch(path.names, isFolder: isFolder, values)
        }
        guard isDone else { throw .storage(.unavailable("\(path): the server does not accept its attributes")) }
        if let mode = wanted.mode { resource.note.mode = mode }
        if wanted.date != nil { (resource.note.date, resource.note.dateOf) = (wanted.date, wanted.dateOf) }
    }

    // MARK: Removing

    package func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        guard refusal(of: path) == nil, path != .root else { return }
        await sweep()
        try await call(path, isChange: true) { () async throws(CallError) in
            guard let found = try await self.find(path) else { return }
            guard found.resource.isFolder == (version == nil), version == nil || found.resource.version == version
            else {
                throw .storage(.changed(try self.entry(found, path)))
            }
            // The server would remove everything in it.
            if found.resource.isFolder { try await self.expectEmpty(path) }
            try await self.delete(found.resource, path)
        }
    }

    private func expectEmpty(_ path: StoragePath) async throws(CallError) {
        do throws(CallError) {
            let (children, _, leftOut) = try await children(of: path)
            let isEmpty =
                leftOut.count == 0
                && children.allSatisfy { child in
                    !child.isFolder && child.names.last.map(Self.isTemporary) == true
                }
            guard isEmpty else { throw .storage(.notEmpty) }
        } catch {
            guard case .storage(.notFound) = error else { throw error }
        }
    }

    private func delete(_ resource: Resource, _ path: StoragePath) async throws(CallError) {
        var request = WebDAVRequest(
            "DELETE", path.names, headers: condition(resource, abilities.removesConditionally))
        request.isFolder = resource.isFolder
        do throws(CallError) {
            let answer = try await send(request)
            // Some of the folder's entries were not removed.
            if answer.head.status == 207 { throw .request(.partial(answer)) }
        } catch {
            guard let status = error.request?.status, [404, 409, 410, 412].contains(status) else { throw error }
            guard let now = try await present(path) else { return }
            throw status == 412 ? .storage(.changed(now)) : error
        }
    }
}
