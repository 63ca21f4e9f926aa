import Glibc
import HTTPStorage

/// A folder that only its owner can enter, with the socket of rclone's server and what rclone is to read from.
final class RcloneFolder: Sendable {
    /// Bytes that the path of a socket may have (unix(7)), with the name in it.
    private static let longest = 100

    let path: String
    var socket: String { "\(path)/rc" }

    /// - Parameter state: The store's own folder; where its path is too long for a socket, it is in `/tmp`.
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
        // An earlier run's, of which nobody is left.
        clear()
    }

    private static func failure(_ path: String) -> ServerFailure {
        .unreachable("\(path) can't be made: \(String(cString: strerror(errno)))")
    }

    /// Removes the socket.
    func clear() { unlink(socket) }

    /// Removes all of it; files that are in use keep it.
    func remove() {
        clear()
        rmdir(path)
    }
}
