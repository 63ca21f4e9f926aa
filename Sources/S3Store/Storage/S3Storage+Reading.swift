import HTTPClient
package import PathStore
package import ReplicaModel
import Threads

extension S3Storage {
    package func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        guard keys.refusal(of: path) == nil else { throw .notFound }
        return try await call(path, isChange: false) { () async throws(CallError) in
            if let range, range.isEmpty { return try await self.readable(path, version) }
            do throws(CallError) { return try await self.fetch(path, version, range, sink) } catch {
                guard case .request(let failure) = error else { throw error }
                if failure.isPreconditionFailed { throw .storage(.changed(try await self.look(path))) }
                // There is nothing where the range begins.
                guard case .complaint(let complaint) = failure, complaint.status == 416 else { throw error }
                return try await self.readable(path, version)
            }
        }
    }

    /// A file of which nothing is read.
    private func readable(_ path: StoragePath, _ version: String?) async throws(CallError) -> PathEntry {
        guard let entry = try await look(path) else { throw .storage(.notFound) }
        guard entry.kind == .file, version == nil || entry.version == version else { throw .storage(.changed(entry)) }
        return entry
    }

    private func fetch(
        _ path: StoragePath, _ version: String?, _ range: Range<Int64>?, _ sink: any ContentSink
    ) async throws(CallError) -> PathEntry {
        let intake = Intake(version: version, range: range, sink: sink)
        var request = S3Request("GET", keys.key(path))
        if let range { request.headers.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")) }
        if let version { request.headers.append(("If-Match", "\"\(version)\"")) }
        request.sink = { bytes, head in intake.take(bytes, head) }
        // A sink is given each byte once.
        request.mayRepeat = false
        let sent = request
        let answer: HTTPAnswer
        do throws(CallError) {
            answer = try await get { () async throws(S3Error) in try await connection.send(sent) }
        } catch {
            if let failure = intake.failure { throw .storage(failure) }
            throw error
        }
        guard let object = intake.object(answer.head) else { throw strange(path) }
        let entry = try await entry(path, object)
        guard entry.kind == .file, version == nil || object.tag == version else { throw .storage(.changed(entry)) }
        return entry
    }
}

/// Where the bytes of an answer go.
private final class Intake: Sendable {
    private struct State {
        var position: Int64?
        var failure: PathStorageError?
    }

    private let version: String?
    private let range: Range<Int64>?
    private let sink: any ContentSink
    private let state = Locked(State())

    init(version: String?, range: Range<Int64>?, sink: any ContentSink) {
        (self.version, self.range, self.sink) = (version, range, sink)
    }

    /// Why it wanted no more.
    var failure: PathStorageError? { state.withLock { $0.failure } }

    /// - Returns: False when the bytes are not those that were asked for, or have no place.
    func take(_ bytes: UnsafeRawBufferPointer, _ head: HTTPHead) -> Bool {
        guard let place = Place(head, range), version == nil || StoredObject.tag(head["etag"] ?? "") == version else {
            return refuse(.unreachable("the server gives other bytes than were asked for"))
        }
        let position = state.withLock { $0.position ?? place.range.lowerBound }
        let (end, isTooFar) = position.addingReportingOverflow(Int64(bytes.count))
        guard !isTooFar, end <= place.range.upperBound else {
            return refuse(.unreachable("the server gives more bytes than it says"))
        }
        do throws(RemoteStoreError) { try sink.write(bytes, at: position) } catch {
            return refuse(error == .cancelled ? .cancelled : .unavailable(error.message))
        }
        state.withLock { $0.position = end }
        return true
    }

    private func refuse(_ failure: PathStorageError) -> Bool {
        state.withLock { $0.failure = $0.failure ?? failure }
        return false
    }

    /// The object that an answer belongs to, all of which came; nil for one that is not.
    func object(_ head: HTTPHead) -> StoredObject? {
        guard let place = Place(head, range), let object = StoredObject(head, size: place.size) else { return nil }
        let position = state.withLock { $0.position ?? place.range.lowerBound }
        return position == place.range.upperBound ? object : nil
    }

    /// Which part of which size an answer has.
    private struct Place {
        let range: Range<Int64>
        let size: Int64

        init?(_ head: HTTPHead, _ asked: Range<Int64>?) {
            if head.status == 200, let size = head.contentLength {
                (range, self.size) = (0..<size, size)
                return
            }
            // bytes FIRST-LAST/SIZE
            guard head.status == 206, let asked, let text = head["content-range"], text.hasPrefix("bytes ") else {
                return nil
            }
            let numbers = text.dropFirst(6).split(whereSeparator: { $0 == "-" || $0 == "/" }).map {
                HTTPHead.size(String($0))
            }
            guard numbers.count == 3, let first = numbers[0], let last = numbers[1], let size = numbers[2],
                first == asked.lowerBound, last >= first, last < size, last < asked.upperBound,
                last == asked.upperBound - 1 || last == size - 1
            else { return nil }
            (range, self.size) = (first..<last + 1, size)
        }
    }
}
