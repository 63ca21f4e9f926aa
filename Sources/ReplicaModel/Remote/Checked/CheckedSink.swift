import Threads

/// Knows which bytes of a content came, and lets none through that no content can have.
final class CheckedSink: ContentSink {
    private struct State {
        var received = RangeSet64()
        var fault: String?
        /// Bytes that had come before.
        var repeated: Int64 = 0
        var isOver = false

        /// - Returns: What is wrong with it.
        mutating func take(_ range: Range<Int64>) -> String? {
            let new = received.missing(in: range).reduce(Int64(0)) { $0 + Int64($1.count) }
            repeated += Int64(range.count) - new
            received.insert(range)
            if received.ranges.count > mostParts { return "the content came in too many pieces" }
            return repeated > mostRepeated + received.count ? "the same bytes come again and again" : nil
        }
    }
    private let sink: any ContentSink
    private let state = Locked(State())

    /// Parts that are apart from each other, at most: to note each byte on its own would take more room than the bytes.
    private static let mostParts = 4_096

    /// Bytes that may come again, beside as many as came.
    private static let mostRepeated: Int64 = 64 << 20

    init(_ sink: any ContentSink) {
        self.sink = sink
    }

    /// What was wrong with the bytes that came, in one line.
    var fault: String? { state.withLock { $0.fault } }

    /// What did not come of a range.
    func missing(in range: Range<Int64>) -> [Range<Int64>] { state.withLock { $0.received.missing(in: range) } }

    /// Nobody waits any more.
    func end() { state.withLock { $0.isOver = true } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        guard !bytes.isEmpty else { return }
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        guard offset >= 0, !isTooFar else { throw fail("bytes came for no place") }
        try pass(offset..<end) { () throws(RemoteStoreError) in try sink.write(bytes, at: offset) }
    }

    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        guard !range.isEmpty else { return }
        guard range.lowerBound >= 0 else { throw fail("bytes came for no place") }
        try pass(range) { () throws(RemoteStoreError) in try sink.writeZeros(in: range) }
    }

    private func pass(_ range: Range<Int64>, _ write: () throws(RemoteStoreError) -> Void) throws(RemoteStoreError) {
        guard range.upperBound <= Item.largestSize else { throw fail("bytes came for no place") }
        if state.withLock({ $0.isOver }) { throw .cancelled }
        try write()
        let fault = state.withLock { $0.take(range) }
        if let fault { throw fail(fault) }
    }

    private func fail(_ fault: String) -> RemoteStoreError {
        state.withLock { $0.fault = $0.fault ?? fault }
        return .malformedAnswer(fault)
    }
}
