/// The exit status of `mount.replica` as a mount(8) helper: the numbers in mount(8)'s manual page.
package enum MountExitStatus: Int32, Sendable {
    /// Mounted, or nothing to do.
    case success = 0
    /// Incorrect invocation or permissions.
    case usage = 1
    /// System error: out of memory, cannot fork, no more loop devices.
    case system = 2
    /// The mount failed.
    case failure = 32
}
