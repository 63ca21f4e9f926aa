import ReplicaControl
import SystemPackage

/// The facts about one domain. The defaults are those of a domain without problems.
struct DomainFacts {
    /// Its state directory.
    enum State: Equatable {
        case trusted
        /// Other users can access it: the entry, a description of the problem, and the command that fixes it.
        case untrusted(FilePath, String, mend: String?)
        /// It is listed here but can't be read.
        case unreadable(FilePath, String)
    }

    /// The result of querying its daemon.
    enum Daemon: Equatable {
        case none
        case answers(process: Int32, mountpoint: FilePath?)
        case silent(process: Int32?, isStopped: Bool)
        case failed(String)
    }

    /// Where its content is kept.
    enum Store: Equatable {
        case folder(PlaceFacts)
        /// A program, and its path.
        case program(String, FilePath?)
        /// Reached by ssh.
        case server(String)
        case invalid(String)
    }

    /// Its secrets: the file that its options name, or what `replica login` keeps.
    enum Credentials: Equatable {
        case none, good
        case kept(Logins.Keeper)
        case unusable(String)
        case missing(FilePath, String)
        case readable(FilePath)
        case foreign(FilePath)
    }

    var name = "photos"
    /// The user who runs `doctor`.
    var user: UInt32 = 1000
    var state = State.trusted
    var daemon = Daemon.none
    /// Its mountpoint, if it is mounted.
    var mount: FilePath?
    /// The number of descriptors that the daemon has open, and its limit.
    var descriptors: MachineFacts.Usage?
    var disk = PlaceFacts()
    var store = Store.folder(PlaceFacts())
    var credentials = Credentials.none
}
