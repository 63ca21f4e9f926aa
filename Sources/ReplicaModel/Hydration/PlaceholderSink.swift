internal import SystemPackage
internal import Threads

/// Writes fetched bytes into the placeholder, and records each range once it is written.
final class PlaceholderSink: ContentSink {
    private struct State {
        var isComplete = false
        var failure: Errno?
        var received: Int64 = 0
        var ranges = RangeSet64()
    }
    private let engine: SyncEngine
    private let target: FetchTarget
    let descriptor: Int32
    private let state = Locked(State())

    init(engine: SyncEngine, target: FetchTarget, descriptor: Int32) {
        self.engine = engine
        self.target = target
        self.descriptor = descriptor
    }

    /// Whether all content of the file is local.
    var isComplete: Bool { state.withLock { $0.isComplete } }
    /// Why bytes could not be written.
    var failure: Errno? { state.withLock { $0.failure } }
    /// The ranges of the file that were received.
    var ranges: [Range<Int64>] { state.withLock { $0.ranges.ranges } }
    /// The number of bytes received so far.
    var received: Int64 { state.withLock { $0.received } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        // A store that sends more than the file's size must not extend the file.
        guard offset >= 0, offset < target.size else { return }
        let count = min(Int64(bytes.count), target.size - offset)
        guard count > 0 else { return }
        try put(offset..<offset + count) { () throws(Errno) in
            let wanted = UnsafeRawBufferPointer(rebasing: bytes[0..<Int(count)])
            try wanted.writeAll(to: descriptor, at: offset)
        }
    }

    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        let wanted = range.clamped(to: 0..<target.size)
        guard !wanted.isEmpty else { return }
        try put(wanted) { () throws(Errno) in try StagingSink.writeZeros(in: wanted, to: descriptor) }
    }

    private func put(_ range: Range<Int64>, _ write: () throws(Errno) -> Void) throws(RemoteStoreError) {
        do throws(ReplicaError) {
            let isComplete = try engine.replica.fill(range, of: target, to: descriptor, write)
            state.withLock { state in
                state.isComplete = isComplete
                state.received += Int64(range.count)
                state.ranges.insert(range)
            }
        } catch {
            state.withLock { $0.failure = error.errno }
            throw .cancelled
        }
        engine.arrived(range, of: target)
    }
}
