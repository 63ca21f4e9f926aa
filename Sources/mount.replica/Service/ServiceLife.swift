import Glibc
import Logging
import ReplicaControl
import ReplicaModel
import Threads

/// A daemon as a service: tells when it is ready, that it lives, and that it stops, and uploads what is pending first.
final class ServiceLife: Sendable {
    private let service: Service
    private let daemon: Daemon
    private let isStopping = Locked(false)

    init(_ service: Service, _ daemon: Daemon) {
        self.service = service
        self.daemon = daemon
    }

    /// Says that the domain is served, and from then on that it still is.
    func isReady() {
        let place = daemon.mountpoint.map { "mounted on \($0)" } ?? "served without a mount"
        tell(["READY=1", ServiceNotice.status("\(daemon.location.name): \(place)")])
        guard let seconds = service.watchdog else { return }
        Task { [self] in
            while !isStopping.withLock({ $0 }) {
                // It takes the locks that all requests take: who doesn't get them doesn't serve either.
                let pending = (try? daemon.domain.report())?.pending  // A report that fails was answered, too.
                let words = pending.map { "\(place), \($0) pending" } ?? place
                tell(["WATCHDOG=1", ServiceNotice.status("\(daemon.location.name): \(words)")])
                try? await Task.sleep(for: .seconds(seconds / 3))  // Nobody cancels it.
            }
        }
    }

    /// Ends the daemon for a signal. SIGTERM has what is pending uploaded first, within the unit's limit and
    /// while the store can be reached; the next one ends that.
    func end(_ signal: Int32) {
        let isFirst = isStopping.withLock { isStopping in
            defer { isStopping = true }
            return !isStopping
        }
        guard isFirst, signal == SIGTERM, service.flush > 0 else {
            if isFirst { tell(["STOPPING=1"]) }
            return daemon.finish()
        }
        tell(["STOPPING=1", ServiceNotice.status("\(daemon.location.name): uploads what is pending, then stops")])
        Task { [daemon] in
            do { try await daemon.domain.waitForStabilization() } catch {
                daemon.log.warning("not everything is in the store yet", metadata: ["error": "\(error)"])
            }
            daemon.finish()
        }
        Task { [self] in
            let limit = ContinuousClock.now + .seconds(service.flush)
            while ContinuousClock.now < limit, canUpload {
                try? await Task.sleep(for: .milliseconds(200))  // Nobody cancels it.
            }
            daemon.finish()
        }
    }

    /// Whether there is a store to wait for: without one it would be for nothing, at each end of a session.
    private var canUpload: Bool {
        do {
            return try ![.offline, .disconnected, .held].contains(daemon.domain.report().state)
        } catch { return false }
    }

    private func tell(_ lines: [String]) {
        guard let notice = service.notice else { return }
        let error = notice.send(lines)
        if error != 0 {
            daemon.log.warning(
                "the service manager can't be told", metadata: ["error": "\(String(cString: strerror(error)))"])
        }
    }
}
