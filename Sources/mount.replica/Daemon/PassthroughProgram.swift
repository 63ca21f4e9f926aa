import Glibc
import ReplicaControl
import SystemPackage

/// The program that lets the kernel read and write the files of an ordinary user's mount directly.
enum PassthroughProgram {
    /// Relative to this program, as installed by `scripts/install`: `sbin/mount.replica` and
    /// `libexec/replica-passthrough`. Nil if it is not installed.
    static let path: String? = {
        guard let program = realpath(SystemPath.ownProgram, nil) else { return nil }
        defer { free(program) }
        let prefix = FilePath(platformString: program).removingLastComponent().removingLastComponent()
        let helper = prefix.appending("libexec").appending("replica-passthrough").string
        return access(helper, X_OK) == 0 ? helper : nil
    }()
}
