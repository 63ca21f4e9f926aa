import HTTPClient
import HTTPStorage
package import PathStore
package import ReplicaModel

extension RcloneStorage {
    package func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        guard refusal(of: path) == nil else { throw .notFound }
        return try await call(path, isChange: false) { () async throws(CallError) in
            let before = try await self.readable(path, version)
            let end = before.size
            // rclone has no answer for a range after the end.
            let wanted = range.map { $0.clamped(to: 0..<max(end, 0)) }
            if end == 0 || wanted?.isEmpty == true { return before }
            try await self.fetch(path, before, wanted, sink)
            // A content comes without its version: the version must be the same before and after.
            let after = try await self.readable(path, nil)
            guard after.version == before.version else { throw .storage(.changed(after)) }
            return before
        }
    }

    /// A file that can be read.
    private func readable(_ path: StoragePath, _ version: String?) async throws(CallError) -> PathEntry {
        guard let item = try await find(path) else { throw .storage(.notFound) }
        guard let entry = entry(of: item, at: path) else {
            throw .storage(.unavailable("\(path): the remote does not report its size or time"))
        }
        guard entry.kind == .file, version == nil || entry.version == version else { throw .storage(.changed(entry)) }
        return entry
    }

    private func fetch(
        _ path: StoragePath, _ entry: PathEntry, _ range: Range<Int64>?, _ sink: any ContentSink
    ) async throws(CallError) {
        let time = abilities.asksForTimes ? nil : entry.attributes.modificationDate?.seconds
        // The head comes before the bytes: bytes of another version are rejected if the head shows it.
        let intake = ContentReceiver(range: range, sink: sink) { head, size in
            guard size == entry.size else { return false }
            guard let time, let told = head["last-modified"].flatMap(ServerTime.header) else { return true }
            return told == time
        }
        var request = connection.contentRequest(root, text(path), range)
        request.sink = { bytes, head in intake.take(bytes, head) }
        let made = request
        let answer: HTTPAnswer
        do throws(RcloneError) { answer = try await connection.send(made) } catch {
            if case .unwanted = error {
                throw .storage(intake.failure ?? .unreachable("\(path): it can't be read"))
            }
            // It may have been removed by now.
            _ = try await readable(path, entry.version)
            throw .request(error)
        }
        guard intake.size(of: answer.head) == entry.size else {
            _ = try await readable(path, entry.version)
            throw .request(.strange)
        }
    }
}
