import HTTPClient
package import PathStore
import ReplicaModel

extension WebDAVConnection {
    /// The request that moves something.
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
            guard let found = try await self.look(path) else { throw .storage(.notFound) }
            guard found.resource.isFolder == (version == nil), version == nil || found.resource.version == version
            else {
                throw .storage(.changed(try self.entry(found, path)))
            }
            if self.abilities.makesParents, try await !self.hasFolder(for: target) { throw .storage(.notFound) }
            if !self.abilities.keepsTargets, let there = try await self.present(target) {
                throw .storage(.taken(there))
            }
            // Nothing else tells later whether a folder is the one that was moved.
            var isFree = false
            if found.resource.isFolder {
                isFree = try await self.get { () async throws(WebDAVError) in
                    try await self.connection.find(target.names, isFolder: false) == nil
                }
            }
            try await self.move(found.resource, path, to: target, isFree: isFree)
            guard var moved = try await self.look(target), moved.resource.isFolder == found.resource.isFolder else {
                throw .request(.strange)
            }
            try await self.keepNote(found.resource, target, &moved.resource)
            return try self.entry(moved, target)
        }
    }

    /// - Parameter isFree: Whether nothing was at the target, as far as is known.
    private func move(
        _ resource: Resource, _ path: StoragePath, to target: StoragePath, isFree: Bool
    ) async throws(CallError) {
        var request = move(path, to: target, isFolder: resource.isFolder, mayReplace: false)
        request.headers += condition(resource, abilities.movesConditionally)
        do throws(CallError) {
            let answer = try await send(request)
            guard answer.head.status != 207 else { throw .request(.strange) }
        } catch {
            guard let failure = error.request, failure.status != nil else { throw error }
            guard let now = try await look(path) else {
                // It was done, and somebody on the way had no answer for us, or sent it twice.
                if let there = try await look(target), resource.isSame(as: there.resource, wasFree: isFree) { return }
                throw .storage(.notFound)
            }
            if failure.isPreconditionFailed, now.resource.version != resource.version {
                throw .storage(.changed(try entry(now, path)))
            }
            throw try await refused(error, target, isCreate: true)
        }
    }

    /// What was noted stays with what was moved, also where the server has it under another ETag then, or has lost the note.
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
    /// Whether what is elsewhere now is what was here.
    fileprivate func isSame(as other: Resource, wasFree: Bool) -> Bool {
        guard isFolder == other.isFolder else { return false }
        return isFolder ? wasFree : version == other.version || size == other.size && modified == other.modified
    }
}
