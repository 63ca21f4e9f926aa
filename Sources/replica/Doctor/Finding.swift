/// The result of one check of `replica doctor`.
struct Finding: Encodable, Equatable {
    /// The severity.
    enum Severity: String, Encodable, CaseIterable, Comparable {
        /// No problem.
        case fine
        /// It works, but more slowly, less safely, or not for long.
        case warning
        /// Something does not work, or others can access private data.
        case error

        static func < (one: Severity, other: Severity) -> Bool { one.rank < other.rank }

        private var rank: Int {
            switch self {
            case .fine: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// The check, by its name in JSON.
    enum Check: String, Encodable, CaseIterable {
        case program, device, fuseConf, fusermount, passthrough, ioUring, haltPolling, inotify, descriptors, clock,
            mounts
        /// The checks of one domain.
        case state, daemon, unit, mount, disk, store, credentials
    }

    var check: Check
    /// The domain's name; nil for a check of the machine.
    var domain: String?
    var severity: Severity
    /// One line.
    var message: String
    /// A shell command that fixes it, if there is one.
    var command: String?

    static func fine(_ check: Check, _ message: String) -> Finding {
        Finding(check: check, severity: .fine, message: message)
    }

    static func warning(_ check: Check, _ message: String, mend command: String? = nil) -> Finding {
        Finding(check: check, severity: .warning, message: message, command: command)
    }

    static func error(_ check: Check, _ message: String, mend command: String? = nil) -> Finding {
        Finding(check: check, severity: .error, message: message, command: command)
    }

    /// The line for the user: `warning  ioUring: ...; to fix it: ...`.
    var line: String {
        let label = severity.rawValue + String(repeating: " ", count: 9 - severity.rawValue.count)
        let about = domain.map { "\($0): " } ?? ""
        let mend = command.map { "; to fix it: \($0)" } ?? ""
        return Format.path(Array("\(label)\(about)\(check.rawValue): \(message)\(mend)".utf8))
    }
}
