package import HTTPClient
package import PathStore
package import ReplicaModel
internal import Threads

/// Receives an answer that is a file's content, or a range of it.
package final class ContentReceiver: Sendable {
    private struct State {
        var position: Int64?
        var failure: PathStorageError?
    }

    private let range: Range<Int64>?
    private let sink: any ContentSink
    private let isExpected: @Sendable (HTTPHead, Int64) -> Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - range: The requested range; nil for all.
    ///   - isExpected: Whether an answer has the requested version, from its head and the size of the whole content.
    package init(
        range: Range<Int64>?, sink: any ContentSink, isExpected: @escaping @Sendable (HTTPHead, Int64) -> Bool
    ) {
        (self.range, self.sink, self.isExpected) = (range, sink, isExpected)
    }

    /// Why it aborted.
    package var failure: PathStorageError? { state.withLock { $0.failure } }

    /// Receives bytes as they arrive (``HTTPRequest/Sink``).
    /// - Returns: False if the bytes were not requested, or can't be stored.
    package func take(_ bytes: UnsafeRawBufferPointer, _ head: HTTPHead) -> Bool {
        guard let place = Place(head, range), isExpected(head, place.size) else {
            return refuse(.unreachable("the server sent other bytes than requested"))
        }
        let position = state.withLock { $0.position ?? place.range.lowerBound }
        let (end, isTooFar) = position.addingReportingOverflow(Int64(bytes.count))
        guard !isTooFar, end <= place.range.upperBound else {
            return refuse(.unreachable("the server sent more bytes than it declared"))
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

    /// The size of the whole content to which an answer belongs; nil if the answer is incomplete or has another
    /// version.
    package func size(of head: HTTPHead) -> Int64? {
        guard let place = Place(head, range) else { return nil }
        let position = state.withLock { $0.position ?? place.range.lowerBound }
        return position == place.range.upperBound ? place.size : nil
    }

    /// The range of the content in an answer, and the content's size.
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
            // More than the requested range is accepted: sabre sends everything for the first byte.
            guard numbers.count == 3, let first = numbers[0], let last = numbers[1], let size = numbers[2],
                first == asked.lowerBound, last >= first, last < size,
                last >= asked.upperBound - 1 || last == size - 1
            else { return nil }
            (range, self.size) = (first..<last + 1, size)
        }
    }
}
