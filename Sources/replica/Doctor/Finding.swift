/// What `replica doctor` found out about one thing.
struct Finding: Encodable, Equatable {
    /// How bad it is.
    enum Severity: String, Encodable, CaseIterable, Comparable {
        /// As it should be.
        case fine
        /// It works, but slower, less safely or not for long.
        case warning
        /// Something does not work, or others can get at what is private.
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

    /// What was looked at, by the name that JSON has.
    enum Check: String, Encodable, CaseIterable {
        case device, fuseConf, fusermount, ioUring, haltPolling, inotify, descriptors, clock, mounts
        /// These are of one domain.
        case state, daemon, mount, disk, store, credentials
    }

    var check: Check
    /// The domain's name; nil for what is the machine's.
    var domain: String?
    var severity: Severity
    /// One line.
    var message: String
    /// A shell command that mends it, if one does.
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

    /// The line for a person: `warning  ioUring: ...; mend it with: ...`.
    var line: String {
        let label = severity.rawValue + String(repeating: " ", count: 9 - severity.rawValue.count)
        let about = domain.map { "\($0): " } ?? ""
        let mend = command.map { "; mend it with: \($0)" } ?? ""
        return Format.path(Array("\(label)\(about)\(check.rawValue): \(message)\(mend)".utf8))
    }
}
