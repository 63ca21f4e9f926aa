internal import CFuse
public import SystemPackage

/// One filesystem on one mountpoint: mount it, run it, unmount it. A session is used once.
public final class Session: @unchecked Sendable {
    public let fileSystem: any FileSystem
    public let options: MountOptions
    /// Tells the kernel what changed behind its back.
    public var notifier: Notifier { fatalError() }

    public init(_ fileSystem: any FileSystem, options: MountOptions) throws(MountError) {
        self.fileSystem = fileSystem
        self.options = options
    }

    /// Mounts, by fusermount3 when the process isn't root. A dead mount of a former daemon is taken away first.
    /// The mount answers once ``run()`` is called.
    public func mount(at path: String) throws(MountError) { fatalError() }

    /// Serves the mount until it is unmounted; then answers what is still parked and returns.
    /// The calling thread waits, so it must not be one of Swift's own pool.
    public func run() { fatalError() }

    /// Unmounts. Any thread but a worker may call it; ``run()`` returns soon after.
    /// - Parameter lazy: take the mount away from the tree at once, even when it is in use. Requests end then with
    ///   ENOTCONN, and programs that hold files open see that too.
    /// - Throws: EBUSY when it is in use and not `lazy`; EINVAL when it is not mounted.
    public func unmount(lazy: Bool = false) throws(Errno) { fatalError() }

    /// Whether opens may name a backing file. Known from ``FileSystem/start(_:)`` on.
    /// Turns false for good when the kernel refuses the first registration for lack of rights (EPERM).
    public var supportsPassthrough: Bool { fatalError() }

    /// Makes a file known to the kernel as one to read and write instead of asking. The descriptor may be closed then.
    ///
    /// The kernel keeps the calling thread's credentials for the I/O: call it as the daemon itself. CAP_FSETID is
    /// left out, so that the backing filesystem strips suid and sgid on writes.
    /// - Throws: EPERM without CAP_SYS_ADMIN, ELOOP when the file lies on a stacked filesystem and `maxStackDepth`
    ///   doesn't allow it, EOPNOTSUPP when passthrough is off.
    public func registerBacking(_ descriptor: Int32) throws(Errno) -> BackingID { fatalError() }

    /// Forgets a backing file. Open files that use it go on.
    public func unregisterBacking(_ id: BackingID) { fatalError() }
}
