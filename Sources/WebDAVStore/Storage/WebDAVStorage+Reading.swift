import HTTPClient
import HTTPStorage
package import PathStore
package import ReplicaModel

extension WebDAVStorage {
    package func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        guard refusal(of: path) == nil else { throw .notFound }
        return try await call(path, isChange: false) { () async throws(CallError) in
            guard let version, range?.isEmpty != true else {
                return try await self.readNewest(path, version, range, sink)
            }
            return try await self.fetch(path, version, range, sink)
        }
    }

    /// For a resource that has to be looked up first.
    private func readNewest(
        _ path: StoragePath, _ version: String?, _ range: Range<Int64>?, _ sink: any ContentSink
    ) async throws(CallError) -> PathEntry {
        let entry = try await readable(path, version)
        if range?.isEmpty == true { return entry }
        return try await fetch(path, entry.version ?? "", range, sink)
    }

    /// The current state of a file, without reading content.
    private func readable(_ path: StoragePath, _ version: String?) async throws(CallError) -> PathEntry {
        guard let entry = try await present(path) else { throw .storage(.notFound) }
        guard entry.kind == .file, version == nil || entry.version == version else { throw .storage(.changed(entry)) }
        return entry
    }

    private func fetch(
        _ path: StoragePath, _ version: String, _ range: Range<Int64>?, _ sink: any ContentSink
    ) async throws(CallError) -> PathEntry {
        let hasTags = abilities.hasTags
        // The head comes before the bytes: bytes of another version are rejected.
        let isExpected: @Sendable (HTTPHead, Int64) -> Bool = { head, size in
            Self.version(head, size, hasTags: hasTags) == version
        }
        let intake = ContentReceiver(range: range, sink: sink, isExpected: isExpected)
        var request = WebDAVRequest("GET", path.names)
        if let range { request.headers.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")) }
        request.sink = { bytes, head in intake.take(bytes, head) }
        // A sink gets each byte only once.
        request.mayRepeat = false
        let answer: HTTPAnswer
        do throws(CallError) { answer = try await send(request) } catch {
            // The file may have changed or be gone; an empty answer for a range past the end is accepted as well.
            if case .request(.unwanted) = error {
                let entry = try await readable(path, version)
                throw .storage(intake.failure ?? .unreachable("\(entry.path): it can't be read"))
            }
            guard let status = error.request?.status, [404, 405, 409, 410, 412, 416].contains(status) else {
                throw error
            }
            let entry = try await readable(path, version)
            if status == 416, entry.size <= range?.lowerBound ?? 0 { return entry }
            throw error
        }
        guard let size = intake.size(of: answer.head), isExpected(answer.head, size) else {
            let entry = try await readable(path, version)
            // sabre/dav sends no length for an empty file.
            if entry.size == 0, answer.head.status == 200 { return entry }
            throw .request(.strange)
        }
        return PathEntry(path: path, kind: .file, version: version, size: size)
    }

    /// The version of a content from the head of its answer.
    private static func version(_ head: HTTPHead, _ size: Int64, hasTags: Bool) -> String {
        // If a server reports ETags only with contents, the time is compared, which both answers have.
        let tag = hasTags ? head["etag"].flatMap(Resource.Tag.init) : nil
        return Resource.version(tag, modified: head["last-modified"].flatMap(ServerTime.header), size: size)
    }
}
