/// Knows which bytes of a content came, and lets none through that no content can have.
final class CheckedSink: ContentSink {
    private struct State {
        var received = RangeSet64()
        var fault: String?
    }
    private let sink: any ContentSink
    private let state = Locked(State())

    /// Parts that are apart from each other, at most: to note each byte on its own would take more room than the bytes.
    private static let mostParts = 4_096

    init(_ sink: any ContentSink) {
        self.sink = sink
    }

    /// What was wrong with the bytes that came, in one line.
    var fault: String? { state.withLock { $0.fault } }

    /// What did not come of a range.
    func missing(in range: Range<Int64>) -> [Range<Int64>] { state.withLock { $0.received.missing(in: range) } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        guard !bytes.isEmpty else { return }
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        guard offset >= 0, !isTooFar, end <= Item.largestSize else { throw fail("bytes came for no place") }
        try sink.write(bytes, at: offset)
        let isScattered = state.withLock { state in
            state.received.insert(offset..<end)
            return state.received.ranges.count > Self.mostParts
        }
        if isScattered { throw fail("the content came in too many pieces") }
    }

    private func fail(_ fault: String) -> RemoteStoreError {
        state.withLock { $0.fault = $0.fault ?? fault }
        return .malformedAnswer(fault)
    }
}
