import CLinux
import Glibc
package import SystemPackage

/// The socket of a domain: `STATE/control.sock`, a stream of lines.
package enum ControlSocket {
    /// The socket's name in the state directory.
    package static let name: FilePath.Component = "control.sock"

    /// Connects to the daemon of the domain with this state directory. Throws `notRunning` if no daemon listens,
    /// `denied` if it belongs to another user, and `timedOut` if it accepts no connection.
    /// - Parameter seconds: How long the connection, and later each write, may take.
    package static func connect(state: FilePath, seconds: Int = 10) throws(ControlFailure) -> FileDescriptor {
        let socket = try newSocket()
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(socket.rawValue, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let code = withAddress(state: state) { address, length in Glibc.connect(socket.rawValue, address, length) }
        if code != 0 {
            close(socket)
            switch code {
            case ENOENT, ECONNREFUSED, ENOTDIR:
                throw ControlFailure(.notRunning, "no daemon serves \(state)")
            case EAGAIN: throw ControlFailure(.timedOut, "the daemon of \(state) accepts no connection")
            case EACCES, EPERM: throw ControlFailure(.denied, "the daemon of \(state) belongs to another user")
            default: throw ControlFailure(.notRunning, "\(state): \(Errno(rawValue: code))")
            }
        }
        return socket
    }

    /// Creates the socket and listens. The caller must hold the domain's lock: an existing socket is left over from a dead
    /// daemon and is replaced.
    package static func listen(state: FilePath) throws(Errno) -> FileDescriptor {
        let socket: FileDescriptor
        do { socket = try newSocket() } catch { throw .tooManyOpenFiles }
        unlink(state.appending(name).string)
        // The file's mode comes from the socket's, so it is never open to others, not even for a moment.
        fchmod(socket.rawValue, 0o600)
        var code = withAddress(state: state) { address, length in bind(socket.rawValue, address, length) }
        if code == 0, Glibc.listen(socket.rawValue, 64) != 0 { code = errno }
        if code != 0 {
            close(socket)
            throw Errno(rawValue: code)
        }
        return socket
    }

    /// The user and process at the other end (SO_PEERCRED: at the time of the connection).
    package static func peer(of socket: FileDescriptor) throws(Errno) -> (user: UInt32, process: Int32) {
        var credentials = cl_ucred()
        var length = socklen_t(MemoryLayout<cl_ucred>.size)
        guard getsockopt(socket.rawValue, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
            throw Errno(rawValue: errno)
        }
        return (credentials.uid, credentials.pid)
    }

    private static func newSocket() throws(ControlFailure) -> FileDescriptor {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(AF_UNIX, type, 0)
        guard socket >= 0 else { throw ControlFailure(.failed, "no socket: \(Errno(rawValue: errno))") }
        return FileDescriptor(rawValue: socket)
    }

    private static func close(_ socket: FileDescriptor) {
        _ = Glibc.close(socket.rawValue)
    }

    /// Runs `body` with the socket's address and returns 0 or its errno. An address holds at most 107 bytes and a state
    /// directory's path may be longer, so the address goes through /proc/self/fd.
    private static func withAddress(
        state: FilePath, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        let folder = open(state.string, O_DIRECTORY | O_CLOEXEC | CL_O_PATH)
        guard folder >= 0 else { return errno }
        defer { Glibc.close(folder) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(CL_DESCRIPTORS)\(folder)/\(name.string)".utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
                body(rebound, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 ? 0 : errno
            }
        }
    }
}
