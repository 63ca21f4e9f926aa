/// The process that makes a call.
package struct Caller: Sendable {
    package var user: UInt32
    package var group: UInt32
    /// Removed from the mode of created entries (umask).
    package var umask: UInt16

    package init(user: UInt32, group: UInt32, umask: UInt16 = 0) {
        self.user = user
        self.group = group
        self.umask = umask
    }
}
