import Glibc
import ReplicaControl
import SystemPackage

extension ControlLoop {
    /// Only the domain's user and root are accepted; the socket's mode ensures that too, but not through a bind mount or for a
    /// process that was passed the descriptor.
    func isAllowed(_ socket: FileDescriptor) -> Bool {
        do {
            let user = try ControlSocket.peer(of: socket).user
            return user == geteuid() || user == 0
        } catch { return false }
    }
}
