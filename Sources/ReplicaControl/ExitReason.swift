/// How the `replica` command ends. Each number means one thing for ever: a number is never reused, gaps stay.
///
/// The same names are the `code` of a failure on the control socket (docs/CONTROL.md). `mount.replica` when called
/// as a mount(8) helper ends with ``MountExitStatus`` instead. A command throws one to end so when it has said all.
package enum ExitReason: Int32, Error, CaseIterable, Sendable {
    /// It worked.
    case success = 0
    /// It failed for a reason without a number of its own; the message says which.
    case failed = 1
    /// No domain has this name.
    case noSuchDomain = 3
    /// There is a domain of this name already. Nothing was changed.
    case domainExists = 4
    /// The domain's daemon doesn't run and could not be started.
    case notRunning = 5
    /// No item is at this path.
    case noSuchItem = 6
    /// The time given with `--timeout` is over; what was asked for goes on.
    case timedOut = 7
    /// `status --check` found errors, conflicts or a store that can't be reached.
    case needsAttention = 8
    /// The item's state forbids it: pinned, open, not uploaded, not a file.
    case refused = 9
    /// The store can't be reached, or the domain is disconnected.
    case offline = 10
    /// The directory can't be imported: missing, no directory, a mount point, inside a domain, not ours.
    case cannotImport = 11
    /// In use: the mount point by programs, or the domain by another daemon.
    case busy = 12
    /// The system forbids it to this user.
    case denied = 13
    /// The domain's store or this system can't do it.
    case unsupported = 14
    /// The store URL isn't one we can use.
    case badStore = 15
    /// The daemon speaks another protocol version than this program.
    case wrongProtocol = 16
    /// The path lies in no mounted domain.
    case notInDomain = 17
    /// The request was cancelled before its end.
    case interrupted = 18
    /// The anchor given with `--since` is too old, or not of this list.
    case anchorExpired = 19
    /// The mount failed; the same number as mount(8)'s.
    case mountFailed = 32
    /// The command line is wrong (EX_USAGE of sysexits.h).
    case usage = 64

    /// The name used in messages and documents.
    package var name: String { String(describing: self) }
}

extension ExitReason: Codable {
    /// Reads the name. A name from a newer daemon reads as ``failed``: its message still says what is wrong.
    package init(from decoder: any Decoder) throws {
        let name = try decoder.singleValueContainer().decode(String.self)
        self = Self.allCases.first { $0.name == name } ?? .failed
    }

    /// Writes the name.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

/// How `mount.replica` ends when mount(8) or a person calls it to mount: the numbers of mount(8)'s manual page.
package enum MountExitStatus: Int32, Sendable {
    /// Mounted, or nothing to do.
    case success = 0
    /// Incorrect invocation or permissions.
    case usage = 1
    /// System error: out of memory, cannot fork, no more loop devices.
    case system = 2
    /// The mount failed.
    case failure = 32
}
