import ReplicaTestSupport
import Threads

/// Starts a detached thread.
func startThread(_ body: @escaping @Sendable () -> Void) {
    precondition(Thread.run(body), "the thread can't be created")
}
