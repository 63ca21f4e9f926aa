import ReplicaControl
import SystemPackage

/// What was looked at of one domain. The values here are those of a domain with which nothing is wrong.
struct DomainSight {
    /// Its state directory.
    enum State: Equatable {
        case trusted
        /// Others can get at it: the entry, what is wrong with it in words, and what mends that.
        case untrusted(FilePath, String, mend: String?)
        /// It is listed here but can't be read.
        case unreadable(FilePath, String)
    }

    /// What became of asking its daemon.
    enum Daemon: Equatable {
        case none
        case answers(process: Int32, mountpoint: FilePath?)
        case silent(process: Int32?, isStopped: Bool)
        case failed(String)
    }

    /// Where its content is kept.
    enum Store: Equatable {
        case folder(PlaceSight)
        /// A program, and where it is.
        case program(String, FilePath?)
        /// Reached by ssh.
        case server(String)
        case invalid(String)
    }

    /// The file with its secrets.
    enum Credentials: Equatable {
        case none, good
        case missing(FilePath, String)
        case readable(FilePath)
        case foreign(FilePath)
    }

    var name = "photos"
    /// Who asks.
    var user: UInt32 = 1000
    var state = State.trusted
    var daemon = Daemon.none
    /// Where its mount is, if one is there.
    var mount: FilePath?
    /// What the daemon has open, and may have.
    var descriptors: MachineSight.Usage?
    var disk = PlaceSight()
    var store = Store.folder(PlaceSight())
    var credentials = Credentials.none
}
