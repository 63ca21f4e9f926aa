internal import Threads

/// Passes bytes on until it is closed; then nothing is written any more.
final class ClosableSink: ContentSink {
    private struct State {
        var writers = 0
        var isClosed = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let sink: any ContentSink
    private let heard: @Sendable () -> Void
    private let state = Locked(State())

    init(_ sink: any ContentSink, heard: @escaping @Sendable () -> Void) {
        (self.sink, self.heard) = (sink, heard)
    }

    /// Returns when no writer is left.
    func close() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                state.isClosed = true
                if state.writers > 0 { state.waiting = continuation }
                return state.writers == 0
            }
            if isQuiet { continuation.resume() }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        try pass { () throws(RemoteStoreError) in try sink.write(bytes, at: offset) }
    }

    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        try pass { () throws(RemoteStoreError) in try sink.writeZeros(in: range) }
    }

    private func pass(_ write: () throws(RemoteStoreError) -> Void) throws(RemoteStoreError) {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.writers += 1 }
            return !state.isClosed
        }
        guard isOpen else { throw .cancelled }
        defer {
            let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.writers -= 1
                guard state.writers == 0 else { return nil }
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume()
        }
        try write()
        heard()
    }
}
