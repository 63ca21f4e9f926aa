import Foundation
import Synchronization

/// Running programs, each on a separate thread.
final class Load: Sendable {
    private let isStopped = Atomic(false)
    private let running: AsyncStream<Void>
    private let count: Int

    init(_ writers: [@Sendable (borrowing Atomic<Bool>) -> Void]) {
        let ends = AsyncStream<Void>.makeStream()
        running = ends.stream
        count = writers.count
        for writer in writers {
            Thread.detachNewThread { [self] in
                writer(isStopped)
                ends.continuation.yield()
            }
        }
    }

    /// Stops them and waits for their end.
    func end() async {
        isStopped.store(true, ordering: .relaxed)
        var left = count
        if left == 0 { return }
        for await _ in running {
            left -= 1
            if left == 0 { return }
        }
    }
}
