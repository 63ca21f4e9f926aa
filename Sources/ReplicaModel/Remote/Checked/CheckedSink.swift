import Threads

/// Tracks which bytes of a content were received, and rejects bytes that no content can have.
final class CheckedSink: ContentSink {
    private struct State {
        var received = RangeSet64()
        var fault: String?
        /// The number of bytes that were received more than once.
        var repeated: Int64 = 0
        var isOver = false

        /// - Returns: What is wrong with the range; nil if it is valid.
        mutating func take(_ range: Range<Int64>) -> String? {
            let new = received.missing(in: range).reduce(Int64(0)) { $0 + Int64($1.count) }
            repeated += Int64(range.count) - new
            received.insert(range)
            if received.ranges.count > mostParts { return "the content was sent in too many pieces" }
            return repeated > mostRepeated + received.count ? "the same bytes were sent too often" : nil
        }
    }
    private let sink: any ContentSink
    private let state = Locked(State())

    /// The maximum number of separate parts: tracking each byte on its own would take more memory than the bytes.
    private static let mostParts = 4_096

    /// The number of bytes that may be sent again, in addition to the number of bytes received.
    private static let mostRepeated: Int64 = 64 << 20

    init(_ sink: any ContentSink) {
        self.sink = sink
    }

    /// What was wrong with the received bytes, in one line.
    var fault: String? { state.withLock { $0.fault } }

    /// Checks that all bytes of a range were received; nil is the whole content.
    func checkComplete(_ range: Range<Int64>?, ofSize size: Int64) throws(RemoteStoreError) {
        guard missing(in: range?.clamped(to: 0..<size) ?? 0..<size).isEmpty else {
            throw .malformedAnswer("the content is incomplete")
        }
    }

    /// The parts of a range that were not received.
    func missing(in range: Range<Int64>) -> [Range<Int64>] { state.withLock { $0.received.missing(in: range) } }

    /// Rejects everything from now on, because the caller is gone.
    func end() { state.withLock { $0.isOver = true } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        guard !bytes.isEmpty else { return }
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        guard offset >= 0, !isTooFar else { throw fail("the content has bytes at an impossible offset") }
        try pass(offset..<end) { () throws(RemoteStoreError) in try sink.write(bytes, at: offset) }
    }

    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        guard !range.isEmpty else { return }
        guard range.lowerBound >= 0 else { throw fail("the content has bytes at an impossible offset") }
        try pass(range) { () throws(RemoteStoreError) in try sink.writeZeros(in: range) }
    }

    private func pass(_ range: Range<Int64>, _ write: () throws(RemoteStoreError) -> Void) throws(RemoteStoreError) {
        guard range.upperBound <= Item.largestSize else { throw fail("the content has bytes at an impossible offset") }
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
