import Glibc
import HTTPStorage

/// A folder with access for its owner only, for the socket of rclone's server and the files that rclone sends.
final class RcloneFolder: Sendable {
    /// The maximum length of a socket's path in bytes (unix(7)), including its name.
    private static let longest = 100

    let path: String
    var socket: String { "\(path)/rc" }

    /// - Parameter state: The store's folder; if its path is too long for a socket, `/tmp` is used.
    init(state: String) throws(ServerFailure) {
        let own = state + "/rclone"
        if own.utf8.count + 3 <= Self.longest {
            guard mkdir(own, 0o700) == 0 || errno == EEXIST, chmod(own, 0o700) == 0 else { throw Self.failure(own) }
            path = own
        } else {
            var template = Array("/tmp/replica-rclone-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw Self.failure("/tmp") }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        // The folder of an earlier run, which has ended.
        clear()
    }

    private static func failure(_ path: String) -> ServerFailure {
        .unreachable("\(path) can't be created: \(String(cString: strerror(errno)))")
    }

    /// Removes the socket.
    func clear() { unlink(socket) }

    /// Removes it, unless it contains files in use.
    func remove() {
        clear()
        rmdir(path)
    }
}
