import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// Waits for a daemon that is stopping, so that `mount` works right after `umount`.
enum DaemonHandover {
    /// How long to wait for a stopping daemon, which finishes its calls and records its state.
    private static let limit = Duration.seconds(10)
    /// The interval between two attempts.
    private static let pauseMicroseconds: UInt32 = 20_000

    /// Runs `body`, which needs exclusive access to the domain, as soon as no other process uses it.
    /// - Throws: `busy` if another daemon keeps serving it, otherwise the failure for the error of `body`, with the
    ///   path of the domain's state.
    static func whenFree<Value>(_ location: DomainLocation, _ body: () throws -> Value) throws -> Value {
        let end = ContinuousClock.now + limit
        while true {
            do { return try body() } catch Errno.resourceBusy {
                guard ContinuousClock.now < end, !isMounted(location) else {
                    throw ControlFailure(.busy, "another daemon serves the domain \(location.name)")
                }
                usleep(pauseMicroseconds)
            } catch let error as RemovalNotFinished {
                throw ControlFailure(error, of: location)
            } catch let failure as DatabaseFailure {
                throw ControlFailure(.failed, "\(location.state): \(failure.message)")
            } catch let errno as Errno {
                throw ControlFailure(ErrnoText.reason(errno).code, "\(location.state): \(errno)")
            }
        }
    }

    /// Whether a daemon responds that has the domain mounted.
    private static func isMounted(_ location: DomainLocation) -> Bool {
        do {
            let answer = try ControlClient.ifRunning(state: location.state)?.request(.hello, timeout: 1)
            guard case .daemon(let daemon) = answer else { return false }
            return daemon.mountpoint != nil
        } catch {
            return false  // It is stopping, or not started yet.
        }
    }
}
