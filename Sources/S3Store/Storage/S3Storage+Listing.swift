import HTTPClient
import HTTPStorage
package import PathStore
package import ReplicaModel

extension S3Storage {
    package func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        if isDeep { throw .unsupported("deep listings") }
        guard folder == .root || keys.refusal(of: folder) == nil else { throw .notFound }
        var place = OpenListings.Place()
        if let page {
            guard let kept = listings.take(page) else { throw .unreachable("the listing has expired") }
            place = kept
        }
        if place.rest.isEmpty {
            let from = (isFirst: page == nil, token: place.token)
            place = try await call(folder, isChange: false) { () async throws(CallError) in
                try await self.page(of: folder, from.token, isFirst: from.isFirst)
            }
        }
        return listings.page(of: place)
    }

    private func page(
        of folder: StoragePath, _ token: String?, isFirst: Bool
    ) async throws(CallError) -> OpenListings.Place {
        let key = keys.folder(folder)
        let answer = try await get { () async throws(S3Error) in
            try await connection.list(key, isDeep: false, from: token)
        }
        if isFirst, folder != .root, answer.objects.isEmpty, answer.prefixes.isEmpty {
            // Not even the folder's own object exists.
            throw .storage(.notFound)
        }
        var entries: [PathEntry] = []
        var unknown: [(FileName, ListAnswer.Object)] = []
        var names: Set<FileName> = []
        var leftOut = LeftOutNames()
        for object in answer.objects {
            guard let name = keys.name(object.key, in: key), names.insert(name).inserted else {
                if !isMarker(object, of: key) { leftOut.add(KeySpace.words(object.key, in: key)) }
                continue
            }
            if let note = known.note(object) {
                entries.append(entry(folder.appending(name), object, note))
            } else {
                unknown.append((name, object))
            }
        }
        for prefix in answer.prefixes {
            // A file of the same name takes precedence.
            guard prefix.last == UInt8(ascii: "/"), let name = keys.name(Array(prefix.dropLast()), in: key),
                names.insert(name).inserted
            else {
                if prefix != keys.own("") { leftOut.add(KeySpace.words(prefix, in: key)) }
                continue
            }
            entries.append(PathEntry(path: folder.appending(name), kind: .folder))
        }
        entries += try await withMetadata(unknown, in: folder)
        return OpenListings.Place(rest: entries, token: answer.next, leftOut: leftOut)
    }

    /// Whether an object only represents the folder of this key. One with content has bytes that no file here shows.
    func isMarker(_ object: ListAnswer.Object, of folder: [UInt8]) -> Bool { object.key == folder && object.size == 0 }

    private func entry(_ path: StoragePath, _ object: ListAnswer.Object, _ note: ObjectMetadataCache.Note) -> PathEntry
    {
        guard note.kind == .file else { return PathEntry(path: path, kind: note.kind, attributes: note.attributes) }
        return PathEntry(
            path: path, kind: .file, version: object.tag, size: object.size, attributes: note.attributes,
            isSettled: true)
    }

    /// Requests the metadata that a listing lacks.
    private func withMetadata(
        _ objects: [(FileName, ListAnswer.Object)], in folder: StoragePath
    ) async throws(CallError) -> [PathEntry] {
        try await inParallel(objects) { await self.withMetadata(folder.appending($0.0), $0.1) }.compactMap(\.self)
    }

    private func withMetadata(_ path: StoragePath, _ listed: ListAnswer.Object) async -> Result<PathEntry?, CallError> {
        do throws(CallError) {
            // It was removed since the listing.
            guard let object = try await head(path) else { return .success(nil) }
            let entry = try await entry(path, object)
            if object.isAged, object.tag == listed.tag, object.size == listed.size,
                object.modified == ServerTime.listing(listed.modified)
            {
                known.add(
                    listed.key,
                    ObjectMetadataCache.Note(
                        tag: listed.tag, size: listed.size, modified: listed.modified, kind: entry.kind,
                        attributes: entry.attributes))
            }
            return .success(entry)
        } catch {
            return .failure(error)
        }
    }
}
