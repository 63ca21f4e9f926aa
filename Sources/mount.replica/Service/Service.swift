import Glibc

/// What a unit of systemd wants of the daemon that it runs, from its environment. A daemon in the background has none.
struct Service: Sendable {
    /// Whom to tell; nil without a service manager.
    var notice: ServiceNotice?
    /// Seconds in which it wants to hear from the daemon again and again, or will restart it.
    var watchdog: Double?
    /// For how many seconds SIGTERM lets pending changes be uploaded before the daemon ends; 0 for not at all.
    var flush = 0.0
    /// What of it is ignored, and why: lines for whoever reads the daemon's log.
    private(set) var complaints: [String] = []

    /// The name of ``flush`` in the environment.
    static let flushVariable = "REPLICA_FLUSH_SECONDS"
    private static let variables = [ServiceNotice.variable, "WATCHDOG_USEC", "WATCHDOG_PID", flushVariable]
    private static let longestFlush = 86400.0

    /// Takes it out of this process's environment: neither a daemon in the background nor a store's program is the unit's main process.
    static func take() -> Service {
        var found: [String: String] = [:]
        for name in variables {
            guard let value = getenv(name) else { continue }
            found[name] = String(cString: value)
            unsetenv(name)
        }
        return Service(found, process: getpid())
    }

    init(_ environment: [String: String], process: Int32) {
        if let text = environment[ServiceNotice.variable] {
            notice = ServiceNotice(text)
            if notice == nil {
                complaints.append("\(ServiceNotice.variable) is no address of a socket here, so it is ignored")
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
                complaints.append("\(Self.flushVariable) is no number of seconds from 0 to 86400, so it is ignored")
            }
        }
    }

    /// No service: for daemons in the background.
    init() {}
}
