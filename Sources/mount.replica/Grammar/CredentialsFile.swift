import Glibc
import SystemPackage

/// Checks the permissions of a credentials file.
enum CredentialsFile {
    /// Throws a one-line message if the file is missing, is not a regular file, belongs neither to this user nor to
    /// root, or can be read or written by anybody but its owner.
    static func check(_ path: FilePath) throws(MountUsageError) {
        // NONBLOCK: a fifo put there must not hang the mount. What is checked is what was opened, so no link that is
        // changed in between gets around it.
        let file = open(path.string, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw MountUsageError("credentials=\(path): \(Errno(rawValue: errno))") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw MountUsageError("credentials=\(path): \(Errno(rawValue: errno))") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw MountUsageError("credentials=\(path): not a file") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw MountUsageError("credentials=\(path) belongs to another user")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw MountUsageError("credentials=\(path) can be read by others: chmod 600 it")
        }
    }
}
