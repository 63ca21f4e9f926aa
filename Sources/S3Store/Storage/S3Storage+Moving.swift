import HTTPClient
import HTTPStorage
package import PathStore
import ReplicaModel

extension S3Storage {
    package func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        if let refusal = keys.refusal(of: path) ?? keys.refusal(of: target) { throw .refused(refusal) }
        return try await call(path, isChange: true, target: target) { () async throws(CallError) in
            if let object = try await self.head(path) {
                guard object.isSymlink == (version == nil), version == nil || object.tag == version else {
                    // An interrupted attempt may have copied the current object. A copy with another ETag may be of a
                    // former object, and its only copy.
                    if let version {
                        let origin = self.origin(self.keys.key(path), version)
                        try await self.takeBack(self.keys.key(target), origin, copyOf: object.tag)
                    }
                    throw .storage(.changed(try await self.entry(path, object)))
                }
                return try await self.move(path, object, to: target)
            }
            guard let folder = try await self.folder(path) else { throw .storage(.notFound) }
            if version != nil { throw .storage(.changed(folder)) }
            return try await self.moveFolder(path, to: target)
        }
    }

    /// Copies an object, verifies the copy, and removes the original. The copy's metadata names its origin, so that an
    /// interrupted move can be continued.
    private func move(
        _ path: StoragePath, _ object: StoredObject, to target: StoragePath
    ) async throws(CallError) -> PathEntry {
        let origin = origin(keys.key(path), object.tag)
        var isCopiedNow = false
        let there = try await head(target)
        if let there, there.metadata["replica-moved"] != origin || there.size != object.size {
            throw .storage(.taken(try await entry(target, there)))
        }
        if there == nil {
            try await makeRoom(for: target)
            var metadata = object.lastingMetadata
            metadata["replica-moved"] = origin
            do throws(CallError) {
                let tag = try await copy(
                    keys.key(path), object, to: keys.key(target), metadata: metadata,
                    condition: abilities.copiesExclusively ? [("If-None-Match", "*")] : [])
                if tag != object.tag { try await expectSame(path, object, copiedTo: target, origin) }
                isCopiedNow = tag == object.tag
            } catch {
                guard case .request(let failure) = error, failure.isPreconditionFailed else { throw error }
                if let taken = try await find(target) { throw .storage(.taken(taken)) }
                guard let now = try await find(path) else { throw .storage(.notFound) }
                throw .storage(.changed(now))
            }
        }
        guard let made = try await head(target) else { throw strange(target) }
        // Another client may have written there since: its content would be recorded as the one that was moved.
        guard made.metadata["replica-moved"] == origin, made.size == object.size else {
            throw .storage(.unreachable("\(target): another client has written it since"))
        }
        try await removeMoved(path, object, to: target, isCopiedNow ? origin : nil)
        return try await entry(target, made)
    }

    /// Identifies a copy by the key and the ETag of its source, and by the store that makes it: no other machine continues it or
    /// takes it back.
    private func origin(_ key: [UInt8], _ tag: String) -> String {
        String(Hash.hexadecimal(Hash.sha256(key + [0] + Array(tag.utf8) + [0] + Array(mover.utf8))).prefix(32))
    }

    /// Removes the original, unless it was changed during the copy. If it is gone, another client removed or moved it:
    /// then the copy is removed, so that the object is not at two places.
    /// - Parameter origin: The origin of a copy that this call made. Nil for a copy that stays: one of an earlier call,
    ///   whose removal may have arrived only now, or one that may not be of this object.
    private func removeMoved(
        _ path: StoragePath, _ object: StoredObject, to target: StoragePath, _ origin: String?
    ) async throws(CallError) {
        guard let now = try await head(path) else {
            guard let origin else { return }
            try await takeBack(keys.key(target), origin, copyOf: object.tag)
            throw .storage(.notFound)
        }
        guard now.tag == object.tag else { return }
        do throws(CallError) { try await removeObject(path, now) } catch .storage(.changed) { return }
    }

    /// The copy is of the object that was read, or of one that another client wrote since: it must not be at two
    /// places.
    private func expectSame(
        _ path: StoragePath, _ object: StoredObject, copiedTo target: StoragePath, _ origin: String
    ) async throws(CallError) {
        guard let now = try await head(path), now.tag != object.tag else { return }
        try await takeBack(keys.key(target), origin, copyOf: now.tag)
        throw .storage(.changed(try await entry(path, now)))
    }

    /// Removes a copy that a move of this store made. A copy of unknown origin stays: two copies are better than none.
    /// - Parameter tag: The ETag of the source, or of a source that another client removed. The copy's ETag differs if
    ///   it was uploaded or encrypted differently.
    private func takeBack(_ copy: [UInt8], _ origin: String, copyOf tag: String) async throws(CallError) {
        // On other servers, another client's copy may be replaced by this one, and its original removed.
        guard abilities.copiesExclusively else { return }
        let made = try await get { () async throws(S3Error) in try await connection.object(copy) }
        guard let made, made.tag == tag, made.metadata["replica-moved"] == origin else { return }
        // What another client has replaced by now stays.
        _ = try await delete(copy, made.tag, mayRepeat: true)
    }

    // MARK: Folders

    private func moveFolder(_ path: StoragePath, to target: StoragePath) async throws(CallError) -> PathEntry {
        let (from, to) = (keys.folder(path), keys.folder(target))
        // An internal note: it tells the next attempt that the objects at the target were copied by the last one.
        let note = keys.own("move-" + Hash.hexadecimal(Hash.sha256(from + [0] + to)).prefix(40))
        let begun = try await get { () async throws(S3Error) in try await connection.object(note) }
        // If this call is repeated after a failure, everything may have been moved; then it must not write a note that
        // no later call removes.
        let left = Leftovers.One.move(note: note, from: from)
        leftovers.add(left)
        do throws(CallError) {
            // A note that was not continued for a long time says nothing about the current state.
            if connection.now - (begun?.modified ?? 0) > Leftovers.age {
                if let object = try await head(target) { throw .storage(.taken(try await entry(target, object))) }
                try await makeRoom(for: target)
                var request = S3Request("PUT", note)
                request.body = .bytes(from + [UInt8(ascii: "\n")] + to)
                let sent = request
                _ = try await get { () async throws(S3Error) in try await connection.send(sent) }
            }
            try await keepFolder(above: path)
            try await moveAll(from, to)
        } catch {
            leftovers.leave(left)
            throw error
        }
        await clear(left)
        guard let entry = try await folder(target) else { throw strange(target) }
        return entry
    }

    /// Copies everything in a folder, and then removes the originals.
    private func moveAll(_ from: [UInt8], _ to: [UInt8]) async throws(CallError) {
        let there = Set(try await all(to).map(\.key))
        let copied = try await inParallel(try await all(from)) { object -> Result<([UInt8], String?), CallError> in
            do throws(CallError) {
                let tag = try await self.copyBelow(object, to + object.key[from.count...], there)
                return .success((object.key, tag))
            } catch {
                return .failure(error)
            }
        }
        try await removeCopied(Dictionary(copied) { $1 }, from, to)
    }

    /// - Parameter there: The objects that were at the target before.
    /// - Returns: The ETag of the copied object; nil if it was gone, or another object is at the target.
    private func copyBelow(
        _ object: ListAnswer.Object, _ target: [UInt8], _ there: Set<[UInt8]>
    ) async throws(CallError) -> String? {
        guard let now = try await get({ () async throws(S3Error) in try await connection.object(object.key) }) else {
            return nil
        }
        let origin = origin(object.key, now.tag)
        if there.contains(target), let isOurs = try await isCopy(target, of: now, origin) {
            return isOurs ? now.tag : nil
        }
        var metadata = object.key.last == UInt8(ascii: "/") ? now.metadata : now.lastingMetadata
        metadata["replica-moved"] = origin
        let tag: String?
        do throws(CallError) {
            tag = try await copy(
                object.key, now, to: target, metadata: metadata,
                condition: abilities.copiesExclusively ? [("If-None-Match", "*")] : [])
        } catch {
            // Another client has written to the target or the source since the listing.
            guard case .request(let failure) = error, failure.isPreconditionFailed else { throw error }
            return try await isCopy(target, of: now, origin) == true ? now.tag : nil
        }
        guard tag != now.tag else { return now.tag }
        let source = try await get { () async throws(S3Error) in try await connection.object(object.key) }
        guard let source, source.tag != now.tag else { return now.tag }
        // The copy may be of content that another client wrote since, which stays where it is.
        try await takeBack(target, origin, copyOf: source.tag)
        return nil
    }

    /// - Returns: Whether the object is a copy that this store made; nil if there is none.
    private func isCopy(_ target: [UInt8], of object: StoredObject, _ origin: String) async throws(CallError) -> Bool? {
        let there = try await get { () async throws(S3Error) in try await connection.object(target) }
        return there.map { $0.metadata["replica-moved"] == origin && $0.size == object.size }
    }

    /// Also removes objects that exist unchanged at their new keys; objects that other clients wrote in the meantime
    /// stay.
    private func removeCopied(_ tags: [[UInt8]: String?], _ from: [UInt8], _ to: [UInt8]) async throws(CallError) {
        let there = Set(try await all(to).map(\.key))
        let left = try await all(from).filter { object in
            tags[object.key] == object.tag && there.contains(to + object.key[from.count...])
        }
        _ = try await inParallel(left) { object -> Result<Void, CallError> in
            do throws(CallError) {
                _ = try await self.delete(object.key, object.tag, mayRepeat: true)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
    }

    /// All keys that begin with a prefix.
    func all(_ prefix: [UInt8]) async throws(CallError) -> [ListAnswer.Object] {
        var (found, keys, token) = ([ListAnswer.Object](), Set<[UInt8]>(), String?.none)
        repeat {
            let from = token
            let page = try await get { () async throws(S3Error) in
                try await connection.list(prefix, isDeep: true, from: from)
            }
            let fresh = page.objects.filter { keys.insert($0.key).inserted }
            guard !fresh.isEmpty || page.next == nil, keys.count <= 1_000_000 else {
                throw .storage(.unreachable("the server's listing does not end"))
            }
            found += fresh
            token = page.next
        } while token != nil
        return found
    }
}
