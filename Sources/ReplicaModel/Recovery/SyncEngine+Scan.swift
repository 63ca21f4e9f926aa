internal import Glibc
internal import Logging
internal import Threads

extension SyncEngine {
    /// Compares the tree with the database if a scan is due, again and again if a part can't be read: until that has succeeded, what is not
    /// found could be there, and nothing is uploaded. Blocks its thread.
    func scan() {
        var pauseSeconds = 1
        while true {
            do {
                try replica.scan(isStopped: { isStopping.withLock { $0 } })
                return scanFailure.withLock { $0 = nil }
            } catch {
                let why = (error as? ReplicaError).map { "\($0.errno)" } ?? "\(error)"
                scanFailure.withLock { $0 = "the files here can't be compared with what was uploaded: \(why)" }
                log.error("nothing is uploaded until the tree can be compared", metadata: ["error": "\(why)"])
            }
            for _ in 0..<20 * pauseSeconds {
                guard !isStopping.withLock({ $0 }) else { return }
                usleep(50_000)
            }
            pauseSeconds = min(60, 2 * pauseSeconds)
        }
    }
}
