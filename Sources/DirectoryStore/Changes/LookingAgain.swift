import SystemPackage

/// When a store whose changes nobody tells of is listed anew.
struct LookingAgain: Hashable, Sendable {
    /// The least time from one listing to the next.
    static let usual = Duration.seconds(60)
    /// How much longer than a listing took the pause after it is: a large tree on a slow network is not always listed.
    private static let rest = 10

    let interval: Duration

    /// Nil for a file system of this machine's own.
    static func needed(in folder: Handle) throws(Errno) -> LookingAgain? {
        let isOnDevice = try Linux.status(of: folder).isOnDevice
        return try FileSystemType(of: folder).isShared(isOnDevice: isOnDevice) ? LookingAgain(interval: usual) : nil
    }

    /// The pause after a listing that took so long.
    func pause(after took: Duration) -> Duration { max(interval, took * Self.rest) }
}
