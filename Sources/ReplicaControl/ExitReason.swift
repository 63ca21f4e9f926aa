/// The exit status of the `replica` command. Numbers are never reused.
///
/// The same names are used as the `code` of a failure on the control socket (docs/CONTROL.md). When called
/// as a mount(8) helper, `mount.replica` exits with ``MountExitStatus`` instead. A command that has printed everything throws one to exit.
package enum ExitReason: Int32, Error, CaseIterable, Sendable {
    /// Success.
    case success = 0
    /// A failure without a specific number; the message gives the reason.
    case failed = 1
    /// There is no domain with this name.
    case noSuchDomain = 3
    /// A domain with this name already exists. Nothing was changed.
    case domainExists = 4
    /// The domain's daemon is not running and could not be started.
    case notRunning = 5
    /// There is no item at this path.
    case noSuchItem = 6
    /// Timed out (`--timeout`); the operation itself continues.
    case timedOut = 7
    /// `status --check` found errors, conflicts or an unreachable store; `doctor` found warnings.
    case needsAttention = 8
    /// The item's state does not allow it: pinned, open, not uploaded, not a file.
    case refused = 9
    /// The store is unreachable, or the domain is disconnected.
    case offline = 10
    /// The directory cannot be imported: missing, not a directory, a mountpoint, inside a domain, another user's.
    case cannotImport = 11
    /// In use: the mountpoint by programs, or the domain by another daemon.
    case busy = 12
    /// Permission denied.
    case denied = 13
    /// Not supported by the domain's store or this system.
    case unsupported = 14
    /// The store URL is invalid or not supported.
    case badStore = 15
    /// The daemon speaks another protocol version than this program.
    case wrongProtocol = 16
    /// The path is not in a mounted domain.
    case notInDomain = 17
    /// The request was cancelled.
    case interrupted = 18
    /// The anchor given with `--since` is too old, or belongs to another list.
    case anchorExpired = 19
    /// `doctor` found an error.
    case broken = 20
    /// The mount failed; the same number as in mount(8).
    case mountFailed = 32
    /// Usage error (EX_USAGE of sysexits.h).
    case usage = 64

    /// The name used in messages and documents.
    package var name: String { String(describing: self) }
}

extension ExitReason: Codable {
    /// Decodes the name. An unknown name from a newer daemon becomes ``failed``; its message still describes the problem.
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
