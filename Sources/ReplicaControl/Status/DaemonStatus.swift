/// The daemon that serves a domain.
package struct DaemonStatus: Codable, Equatable, Sendable {
    /// The domain's name.
    package var name: String
    /// The daemon's process.
    package var pid: Int32
    /// The protocol version it speaks.
    package var `protocol`: Int
    /// The domain's mountpoint; nil if it is served without a mount.
    package var mountpoint: ControlFilePath?

    /// The daemon of the domain `name`, speaking this program's protocol version.
    package init(name: String, pid: Int32, mountpoint: ControlFilePath?) {
        self.name = name
        self.pid = pid
        self.protocol = controlProtocolVersion
        self.mountpoint = mountpoint
    }
}
