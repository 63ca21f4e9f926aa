import Foundation
import Synchronization

/// Programs at work, each on a thread of its own.
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

    /// Stops them and waits until they have.
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
