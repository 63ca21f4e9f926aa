import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import SystemPackage
import Threads

/// Uploads in chunks, as defined by Nextcloud and ownCloud: the files of a folder are joined by a move.
extension WebDAVStorage {
    /// How large files are sent.
    package struct ChunkLimits: Hashable, Sendable {
        /// Larger files are sent in chunks; in bytes.
        package var whole: Int64 = 20 << 20
        /// The size of a chunk in bytes; there are at most 10,000 chunks.
        package var chunk: Int64 = 10 << 20

        /// Like Nextcloud's own clients.
        package init() {}

        /// The size of the chunks of a file of this size, in bytes.
        func chunk(of size: Int64) -> Int64 { max(chunk, size / 9_000 + 1) }
    }

    /// Whether a file is uploaded in chunks: if the server supports them and the URL contains the user.
    func isChunked(_ size: Int64) -> Bool {
        abilities.hasNumbers && abilities.writesWhole && size > chunks.whole && address.uploads != nil
    }

    /// Sends a file in chunks. Chunks with the same bytes that the server has from an earlier attempt are not sent
    /// again.
    /// - Parameter test: The required state of the target; nil for none.
    func putChunks(
        _ contents: ItemContents, at path: StoragePath, _ time: [(name: String, value: String)], test: Resource?
    ) async throws(CallError) {
        guard let uploads = address.uploads else { throw .request(.strange) }
        let target = address.url(path.names, isFolder: false)
        let size = chunks.chunk(of: contents.size)
        var note = chunkNotes.note(of: target, size: contents.size, chunk: size)
        let folder = uploads + [FileName(note.name)]
        let there = try await chunks(in: folder, note, target)
        for start in stride(from: Int64(0), to: contents.size, by: Int64.Stride(size)) {
            let number = Int(start / size) + 1
            let range = start..<min(contents.size, start + size)
            let file = contents.file.rawValue
            guard let hash = await disk.run({ Hash.sha256(file, range).map(Hash.hexadecimal) }) else {
                throw .request(.contentsEndEarly)
            }
            if note.hashes[number] != hash || there[String(number)] != range.upperBound - range.lowerBound {
                // The source of the content is unknown while it is sent.
                note.hashes[number] = nil
                chunkNotes.keep(note)
                var request = WebDAVRequest("PUT", at: folder + [FileName(String(number))])
                request.headers = [("Destination", target), ("OC-Total-Length", String(contents.size))]
                (request.body, request.longestSilence) = (.file(contents.file.rawValue, range), 120)
                let progress = contents.progress
                request.sent = { progress(range.lowerBound + $0) }
                try await send(request)
                note.hashes[number] = hash
                chunkNotes.keep(note)
            }
            contents.progress(range.upperBound)
        }
        var request = WebDAVRequest("MOVE", at: folder + [FileName(".file")])
        request.headers = [("Destination", target), ("OC-Total-Length", String(contents.size))] + time
        if let tag = test?.tag {
            // The target's ETag, because the source has none.
            request.headers += [("If", "<\(target)> ([\(tag.header)])")]
        } else {
            request.headers += [("Overwrite", "F")]
        }
        request.longestSilence = 600
        do throws(CallError) { try await send(request) } catch {
            var error = error
            if test != nil, error.request?.status == 404, try await present(path) == nil {
                // sabre/dav tests the ETag of no file.
                error = .request(.complaint(WebDAVError.Complaint(status: 412)))
            }
            // Chunks that are inconsistent or gone are sent again.
            if let status = error.request?.status, [400, 404].contains(status) { chunkNotes.end(note) }
            throw try await refused(error, path, isCreate: test == nil)
        }
        chunkNotes.end(note)
    }

    /// The sizes of the chunks on the server, by name; creates their folder if it does not exist.
    private func chunks(
        in folder: [FileName], _ note: ChunkNotes.Note, _ target: String
    ) async throws(CallError) -> [String: Int64] {
        if !note.hashes.isEmpty {
            do throws(WebDAVError) {
                let found = try await connection.ask(folder, isFolder: true, withChildren: true, isAbsolute: true).0
                let chunks = found.filter { $0.names.count == folder.count + 1 && $0.names.starts(with: folder) }
                return Dictionary(
                    chunks.compactMap { chunk in
                        chunk.names.last.flatMap { name in chunk.size.map { (name.description, $0) } }
                    }, uniquingKeysWith: { $1 })
            } catch {
                guard error.status == 404 else { throw .request(error) }
            }
        }
        var request = WebDAVRequest("MKCOL", at: folder)
        (request.isFolder, request.headers) = (true, [("Destination", target)])
        do throws(CallError) { try await send(request) } catch {
            // It was created before, and the answer was lost.
            guard error.request?.status == 405 else { throw error }
        }
        return [:]
    }
}

extension WebDAVAddress {
    /// The names of the folder for this user's chunks, from the server's root: next to that of the files.
    var uploads: [FileName]? {
        guard let files = path.firstIndex(of: FileName("files")), files > 0, path[files - 1] == FileName("dav"),
            path.count > files + 1
        else { return nil }
        return path[..<files] + [FileName("uploads"), path[files + 1]]
    }
}
