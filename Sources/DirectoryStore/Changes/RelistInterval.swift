import SystemPackage

/// When a store without change notification is listed again.
struct RelistInterval: Hashable, Sendable {
    /// The least time from one listing to the next.
    static let usual = Duration.seconds(60)
    /// The ratio of the pause to the duration of the listing before it, so that a large tree on a slow network is not listed
    /// all the time.
    private static let rest = 10

    let interval: Duration

    /// Nil for a file system of this machine's own.
    static func needed(in folder: Handle) throws(Errno) -> RelistInterval? {
        let isOnDevice = try Linux.status(of: folder).isOnDevice
        return try FileSystemType(of: folder).isShared(isOnDevice: isOnDevice) ? RelistInterval(interval: usual) : nil
    }

    /// The pause after a listing that took so long.
    func pause(after took: Duration) -> Duration { max(interval, took * Self.rest) }
}
