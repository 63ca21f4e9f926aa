import Threads

/// Receives the bytes of one range in memory.
final class WindowSink: ContentSink {
    private struct State {
        var bytes: [UInt8]
        var ranges = RangeSet64()
    }
    private let range: Range<Int64>
    private let state: Locked<State>
    /// Called with the number of bytes received.
    private let arrived: @Sendable (Int64) -> Void

    init(_ range: Range<Int64>, arrived: @escaping @Sendable (Int64) -> Void) {
        self.range = range
        self.arrived = arrived
        state = Locked(State(bytes: [UInt8](repeating: 0, count: range.count)))
    }

    /// The bytes of the range; nil if not all were received.
    var bytes: [UInt8]? { state.withLock { $0.ranges.missing(in: range).isEmpty ? $0.bytes : nil } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        let end = offset.addingReportingOverflow(Int64(bytes.count))
        guard offset >= 0, !end.overflow else { return }
        let part = (offset..<end.partialValue).clamped(to: range)
        state.withLock { state in
            guard !part.isEmpty else { return }
            let source = UnsafeRawBufferPointer(
                rebasing: bytes[Int(part.lowerBound - offset)..<Int(part.upperBound - offset)])
            let start = Int(part.lowerBound - range.lowerBound)
            state.bytes.replaceSubrange(start..<start + source.count, with: source)
            state.ranges.insert(part)
        }
        arrived(Int64(part.count))
    }
}
