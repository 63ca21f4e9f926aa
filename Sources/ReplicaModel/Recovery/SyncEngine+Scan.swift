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
                return try replica.scan(isStopped: { isStopping.withLock { $0 } })
            } catch {
                log.error(
                    "the tree cannot be compared: nothing is uploaded until it can", metadata: ["error": "\(error)"])
            }
            for _ in 0..<20 * pauseSeconds {
                guard !isStopping.withLock({ $0 }) else { return }
                usleep(50_000)
            }
            pauseSeconds = min(60, 2 * pauseSeconds)
        }
    }
}
