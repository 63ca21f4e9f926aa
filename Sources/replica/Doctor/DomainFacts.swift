import ReplicaControl
import SystemPackage

/// The facts about one domain. The defaults are those of a domain without problems. Large: each field is something that `doctor`
/// checks.
struct DomainFacts {
    /// Its state directory.
    enum State: Equatable {
        case trusted
        /// Other users can access it: the entry, a description of the problem, and the command that fixes it.
        case untrusted(FilePath, String, mend: String?)
        /// It is listed here but can't be read.
        case unreadable(FilePath, String, mend: String?)
        /// Its user may not open the tree or the database.
        case closed(FilePath, mend: String)
        /// Its removal was begun and has failed.
        case halfRemoved(FilePath)
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
        case folder(DiskFacts)
        /// A folder that is missing, on a disk of fstab that is not mounted: the mountpoint.
        case unmounted(DiskFacts, on: FilePath)
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
        /// Its user may not read it.
        case closed(FilePath, owner: UInt32)
        case foreign(FilePath)
    }

    /// `replica@NAME.service`.
    struct Unit: Equatable {
        let name: String
        /// `systemctl --user`, with sudo(8) where that is needed.
        let control: String
        let hasFailed: Bool
    }

    var name = "photos"
    /// The user who runs `doctor`.
    var user: UInt32 = 1000
    /// Where this program is installed: `/usr`.
    var prefix: FilePath = "/usr"
    var state = State.trusted
    var daemon = Daemon.none
    /// Its mountpoint, if it is mounted.
    var mount: FilePath?
    /// Where something else is mounted that hides its mount.
    var cover: FilePath?
    /// A mountpoint of its unit or of fstab that is missing.
    var missingPlace: FilePath?
    /// Whether this user may make that.
    var missingPlaceIsOwn = true
    /// Its unit of systemd, if there may be one.
    var unit: Unit?
    /// The number of descriptors that the daemon has open, and its limit.
    var descriptors: MachineFacts.Usage?
    var disk = DiskFacts()
    /// Whether a daemon can start though the disk is full.
    var hasReserve = true
    var store = Store.folder(DiskFacts())
    var credentials = Credentials.none
}
