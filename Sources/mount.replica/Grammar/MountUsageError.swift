import ReplicaControl

/// A one-line description of a usage error, and mount(8)'s exit status for it.
struct MountUsageError: Error, Equatable, CustomStringConvertible {
    let message: String
    let status: MountExitStatus

    init(_ message: String, status: MountExitStatus = .usage) {
        self.message = message
        self.status = status
    }

    var description: String { message }
}
