import Glibc
import ProcessStore
import Threads

/// Reads lines from a descriptor, on a separate thread.
final class LineSource: Sendable {
    private let stream: AsyncStream<[UInt8]>

    /// - Parameter limit: The maximum length of a line in bytes; a longer one ends the input.
    init(_ file: Int32, limit: Int) {
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        self.stream = stream
        let isRunning = Thread.run {
            Self.read(file, limit, continuation)
            continuation.finish()
        }
        if !isRunning { continuation.finish() }
    }

    private static func read(_ file: Int32, _ limit: Int, _ lines: AsyncStream<[UInt8]>.Continuation) {
        var buffer = LineBuffer(limit: limit)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { room.deallocate() }
        while true {
            let count = Glibc.read(file, room.baseAddress, room.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            for line in buffer.take(UnsafeRawBufferPointer(rebasing: room[..<count])) {
                guard let line else { return }
                lines.yield(line)
            }
        }
    }

    /// The next line; nil at the end. Only one caller at a time.
    func next() async -> [UInt8]? {
        for await line in stream { return line }
        return nil
    }
}
