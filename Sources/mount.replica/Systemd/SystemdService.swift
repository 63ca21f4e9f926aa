import Glibc
import Logging
import ReplicaControl
import ReplicaModel
import Threads

/// A daemon as a service: notifies systemd when it is ready, alive, and stopping, and uploads pending changes before it
/// stops.
final class SystemdService: Sendable {
    private let service: SystemdSettings
    private let daemon: Daemon
    private let isStopping = Locked(false)

    init(_ service: SystemdSettings, _ daemon: Daemon) {
        self.service = service
        self.daemon = daemon
    }

    /// Reports readiness, and from then on feeds the watchdog.
    func isReady() {
        let place = daemon.mountpoint.map { "mounted on \($0)" } ?? "served without a mount"
        tell([NotifySocket.ready, NotifySocket.status("\(daemon.location.name): \(place)")])
        guard let seconds = service.watchdog else { return }
        Task { [self] in
            while !isStopping.withLock({ $0 }) {
                // The report takes the locks that all requests take: a daemon that can't get them can't serve either.
                let pending = (try? daemon.domain.report())?.pending  // A failed report was answered, too.
                let words = pending.map { "\(place), \($0) pending" } ?? place
                tell([NotifySocket.watchdog, NotifySocket.status("\(daemon.location.name): \(words)")])
                try? await Task.sleep(for: .seconds(seconds / 3))  // This task is never cancelled.
            }
        }
    }

    /// Ends the daemon for a signal. On SIGTERM, pending changes are uploaded first, within the unit's limit and while
    /// the store can be reached; a second SIGTERM stops that.
    func end(_ signal: Int32) {
        let isFirst = isStopping.withLock { isStopping in
            defer { isStopping = true }
            return !isStopping
        }
        guard isFirst, signal == SIGTERM, service.flush > 0 else {
            if isFirst { tell([NotifySocket.stopping]) }
            return daemon.finish()
        }
        tell([
            NotifySocket.stopping,
            NotifySocket.status("\(daemon.location.name): uploading pending changes, then stopping"),
        ])
        Task { [daemon] in
            do { try await daemon.domain.waitForStabilization() } catch {
                daemon.log.warning("not everything is in the store yet", metadata: ["error": "\(error)"])
            }
            daemon.finish()
        }
        Task { [self] in
            let limit = ContinuousClock.now + .seconds(service.flush)
            while ContinuousClock.now < limit, canUpload {
                try? await Task.sleep(for: .milliseconds(200))  // This task is never cancelled.
            }
            daemon.finish()
        }
    }

    /// Whether the store can be reached: otherwise every logout would wait in vain.
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
                "the service manager can't be notified", metadata: ["error": "\(String(cString: strerror(error)))"])
        }
    }
}
