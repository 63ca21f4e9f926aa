import HTTPClient
package import PathStore
import ReplicaModel

extension WebDAVConnection {
    /// The request of a move.
    func move(_ names: [FileName], to target: [FileName], isFolder: Bool, mayReplace: Bool) -> WebDAVRequest {
        var request = WebDAVRequest(
            "MOVE", names,
            headers: [
                ("Destination", address.url(target, isFolder: isFolder)), ("Overwrite", mayReplace ? "T" : "F"),
            ])
        (request.isFolder, request.longestSilence) = (isFolder, 300)
        return request
    }
}

extension WebDAVStorage {
    func move(_ path: StoragePath, to target: StoragePath, isFolder: Bool, mayReplace: Bool) -> WebDAVRequest {
        connection.move(path.names, to: target.names, isFolder: isFolder, mayReplace: mayReplace)
    }

    package func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        if let refusal = refusal(of: path) ?? refusal(of: target) { throw .refused(refusal) }
        return try await call(path, isChange: true) { () async throws(CallError) in
            guard let found = try await self.find(path) else { throw .storage(.notFound) }
            guard found.resource.isFolder == (version == nil), version == nil || found.resource.version == version
            else {
                throw .storage(.changed(try self.entry(found, path)))
            }
            if self.abilities.makesParents, try await !self.hasFolder(for: target) { throw .storage(.notFound) }
            // Checked even if the server tests it: lighttpd moves a file into an existing folder, and it can't be
            // determined later whether a folder is the one that was moved.
            if let there = try await self.present(target) { throw .storage(.taken(there)) }
            try await self.move(found.resource, path, to: target)
            guard var moved = try await self.find(target) else { throw .request(.strange) }
            guard moved.resource.isFolder == found.resource.isFolder else {
                try await self.takeOut(found.resource, path, of: target)
                throw .storage(.taken(try self.entry(moved, target)))
            }
            try await self.keepNote(found.resource, target, &moved.resource)
            return try self.entry(moved, target)
        }
    }

    /// Moves back a file that the server moved into a folder that another client created at the target in the meantime.
    private func takeOut(
        _ resource: Resource, _ path: StoragePath, of folder: StoragePath
    ) async throws(CallError) {
        guard !resource.isFolder, let name = path.name else { return }
        let place = folder.appending(name)
        guard let found = try await find(place), resource.isSame(as: found.resource) else { return }
        try await move(found.resource, place, to: path)
    }

    /// Moves a resource to a free path.
    private func move(
        _ resource: Resource, _ path: StoragePath, to target: StoragePath
    ) async throws(CallError) {
        var request = move(path, to: target, isFolder: resource.isFolder, mayReplace: false)
        request.headers += condition(resource, abilities.movesConditionally)
        do throws(CallError) {
            let answer = try await send(request)
            if answer.head.status == 207 { throw .request(.partial(answer)) }
        } catch {
            guard let failure = error.request, failure.status != nil else { throw error }
            guard let now = try await find(path) else {
                // The move succeeded, but a proxy lost the answer or sent the request twice.
                if let there = try await find(target), resource.isSame(as: there.resource) { return }
                throw .storage(.notFound)
            }
            if failure.isPreconditionFailed, !resource.isFolder, now.resource.version != resource.version {
                throw .storage(.changed(try entry(now, path)))
            }
            throw try await refused(error, target, isCreate: true)
        }
    }

    /// Keeps the properties of a moved resource, even if the server has changed its ETag or lost the properties.
    private func keepNote(_ former: Resource, _ target: StoragePath, _ moved: inout Resource) async throws(CallError) {
        var wanted = PathAttributes()
        if moved.note.mode == nil { wanted.mode = former.note.mode }
        if !former.isFolder, former.note.dateOf == former.version, moved.note.dateOf != moved.version {
            wanted.modificationDate = former.note.date
        }
        try await patch(wanted, target, &moved)
    }
}

extension Resource {
    /// Whether the resource at the target, which was free, is the one that was here.
    fileprivate func isSame(as other: Resource) -> Bool {
        guard isFolder == other.isFolder else { return false }
        return isFolder || version == other.version || size == other.size && modified == other.modified
    }
}
