import HTTPClient
import HTTPStorage
package import PathStore
package import ReplicaModel

extension S3Storage {
    package func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        guard keys.refusal(of: path) == nil else { throw .notFound }
        return try await call(path, isChange: false) { () async throws(CallError) in
            if let range, range.isEmpty { return try await self.readable(path, version) }
            do throws(CallError) { return try await self.fetch(path, version, range, sink) } catch {
                guard case .request(let failure) = error else { throw error }
                if failure.isPreconditionFailed { throw .storage(.changed(try await self.find(path))) }
                // The range begins after the end.
                guard case .complaint(let complaint) = failure, complaint.status == 416 else { throw error }
                return try await self.readable(path, version)
            }
        }
    }

    /// The current state of a file, without reading content.
    private func readable(_ path: StoragePath, _ version: String?) async throws(CallError) -> PathEntry {
        guard let entry = try await find(path) else { throw .storage(.notFound) }
        guard entry.kind == .file, version == nil || entry.version == version else { throw .storage(.changed(entry)) }
        return entry
    }

    private func fetch(
        _ path: StoragePath, _ version: String?, _ range: Range<Int64>?, _ sink: any ContentSink
    ) async throws(CallError) -> PathEntry {
        let intake = ContentReceiver(range: range, sink: sink) { head, _ in
            version == nil || EntityTag.value(head["etag"] ?? "") == version
        }
        var request = S3Request("GET", keys.key(path))
        if let range { request.headers.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")) }
        if let version { request.headers.append(("If-Match", "\"\(version)\"")) }
        request.sink = { bytes, head in intake.take(bytes, head) }
        // A sink gets each byte only once.
        request.mayRepeat = false
        let sent = request
        let answer: HTTPAnswer
        do throws(CallError) {
            answer = try await get { () async throws(S3Error) in try await connection.send(sent) }
        } catch {
            if let failure = intake.failure { throw .storage(failure) }
            throw error
        }
        guard let size = intake.size(of: answer.head), let object = StoredObject(answer.head, size: size) else {
            throw strange(path)
        }
        let entry = try await entry(path, object)
        guard entry.kind == .file, version == nil || object.tag == version else { throw .storage(.changed(entry)) }
        return entry
    }
}
