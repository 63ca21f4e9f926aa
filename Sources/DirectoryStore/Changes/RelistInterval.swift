import SystemPackage

/// The interval at which a store without change notification is listed again.
struct RelistInterval: Hashable, Sendable {
    /// The minimum time between two listings.
    static let usual = Duration.seconds(60)
    /// The ratio of the pause to the duration of the preceding listing, so that a large tree on a slow network is not
    /// listed all the time.
    private static let rest = 10

    let interval: Duration

    /// Nil for a local filesystem.
    static func needed(in folder: OpenDescriptor) throws(Errno) -> RelistInterval? {
        let isOnDevice = try SystemCalls.status(of: folder).isOnDevice
        return try FileSystemType(of: folder).isShared(isOnDevice: isOnDevice) ? RelistInterval(interval: usual) : nil
    }

    /// The pause after a listing of this duration.
    func pause(after took: Duration) -> Duration { max(interval, took * Self.rest) }
}
