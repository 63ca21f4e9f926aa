import ReplicaControl
import ReplicaModel
import SystemPackage

/// The directory and the place of the state are on two filesystems.
struct LiesElsewhere: Error {}

/// Checks whether a directory can be imported.
/// - Throws: ``LiesElsewhere``, or a failure with a message.
func importable<Value>(_ directory: FilePath?, _ body: () throws(Errno) -> Value) throws -> Value {
    do throws(Errno) { return try body() } catch {
        if error == .improperLink { throw LiesElsewhere() }
        throw ControlFailure(error, importing: directory)
    }
}

extension ControlFailure {
    /// Why a directory can't be imported. There is none for a domain with the store's contents.
    init(_ errno: Errno, importing directory: FilePath?) {
        let what = directory.map(\.string) ?? "the tree"
        self =
            switch errno {
            case .notDirectory: ControlFailure(.cannotImport, "\(what) is not a directory")
            case .noSuchFileOrDirectory: ControlFailure(.cannotImport, "\(what): no such directory")
            case .resourceBusy: ControlFailure(.cannotImport, "\(what) is a mountpoint: unmount it first")
            case .tooManySymbolicLinkLevels:
                ControlFailure(
                    .cannotImport, "\(what): a symbolic link is on the way; name the directory by its own path")
            case .stale: ControlFailure(.cannotImport, "\(what) was replaced meanwhile; nothing was changed")
            case .notPermitted: ControlFailure(.cannotImport, "\(what) belongs to another user")
            case .invalidArgument: ControlFailure(.cannotImport, "\(what) is in a domain or contains one")
            case .notSupported: ControlFailure(.unsupported, "the store does not accept imports; \(what) is unchanged")
            case .fileExists: ControlFailure(.domainExists, "the domain already exists")
            default: ControlFailure(.cannotImport, "\(what): \(errno)")
            }
    }
}
