import Glibc

/// The settings of the systemd unit that runs this daemon, from its environment. A background daemon has none.
struct SystemdSettings: Sendable {
    /// Where notifications go; nil without a service manager.
    var notice: NotifySocket?
    /// The watchdog's interval in seconds: if no notification arrives in time, the daemon is restarted.
    var watchdog: Double?
    /// For how many seconds SIGTERM lets pending changes be uploaded before the daemon ends; 0 for not at all.
    var flush = 0.0
    /// The ignored settings with the reasons, as lines for the daemon's log.
    private(set) var complaints: [String] = []

    /// The name of ``flush`` in the environment.
    static let flushVariable = "REPLICA_FLUSH_SECONDS"
    private static let variables = [NotifySocket.variable, "WATCHDOG_USEC", "WATCHDOG_PID", flushVariable]
    private static let longestFlush = 86400.0

    /// Reads the settings and removes them from this process's environment: neither a background daemon nor a store's
    /// program is the unit's main process.
    static func take() -> SystemdSettings {
        var found: [String: String] = [:]
        for name in variables {
            guard let value = getenv(name) else { continue }
            found[name] = String(cString: value)
            unsetenv(name)
        }
        return SystemdSettings(found, process: getpid())
    }

    init(_ environment: [String: String], process: Int32) {
        if let text = environment[NotifySocket.variable] {
            notice = NotifySocket(text)
            if notice == nil {
                complaints.append("\(NotifySocket.variable) is not a valid socket address, so it is ignored")
            }
        }
        if let microseconds = environment["WATCHDOG_USEC"].flatMap(UInt64.init), microseconds > 0, notice != nil,
            environment["WATCHDOG_PID"].map({ $0 == "\(process)" }) ?? true
        {
            watchdog = Double(microseconds) / 1e6
        }
        if let text = environment[Self.flushVariable] {
            if let seconds = Double(text), (0...Self.longestFlush).contains(seconds) {
                flush = seconds
            } else {
                complaints.append("\(Self.flushVariable) is not a number of seconds from 0 to 86400, so it is ignored")
            }
        }
    }

    /// No service: for background daemons.
    init() {}
}
