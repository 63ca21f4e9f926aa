internal import CFuse
internal import CMount
internal import Glibc
public import SystemPackage
internal import Threads

/// A filesystem at a mountpoint: mount it, run it, unmount it. A session cannot be reused.
public final class Session: Sendable {
    enum Phase {
        case new
        case mounted
        case ending
        case ended
    }

    struct State {
        var phase = Phase.new
        /// Identifies our mount, because another one may be at its path by now.
        var identity: cmount_identity?
        var supportsPassthrough = false
        /// Whether this process may register backing files itself, until the kernel refuses.
        var isPrivileged = true
        // libfuse's session and the workers, from `init` and `mount` until `run` ends.
        nonisolated(unsafe) var handle: OpaquePointer?
        nonisolated(unsafe) var pool: OpaquePointer?
    }

    public let fileSystem: any FileSystem
    public let options: MountOptions
    /// Notifies the kernel of changes that it does not know about.
    public let notifier = Notifier()
    let features: Features
    let lot = ParkingLot()
    /// A filesystem may take it while holding its own locks.
    let state = Locked(State(), rank: .innermost)
    /// Used in the same way, for one file at a time.
    let registrar = Locked(BackingFileRegistrar(), rank: .innermost)

    /// Creates a session; nothing is mounted yet.
    /// - Throws: If the options are invalid.
    public init(_ fileSystem: any FileSystem, options: MountOptions) throws(MountError) {
        if let word = options.unknownWord { throw MountError("unknown mount option '\(word)'") }
        self.fileSystem = fileSystem
        self.options = options
        features = fileSystem.features
        var operations = makeOperations(features)
        let user = Unmanaged.passUnretained(self).toOpaque()
        let handle = withArguments(options.arguments) { cfuse_session_new($0, $1, &operations, user) }
        guard let handle else { throw MountError(libraryMessage("the mount options are not understood")) }
        state.withLock { $0.handle = handle }
    }

    deinit {
        // Does nothing after a run.
        notifier.stop()
        let handle = state.withLock { $0.handle }
        // Only a session that never ran still has a handle.
        if let handle { release(handle, pool: state.withLock { $0.pool }) }
    }

    /// Mounts, using fusermount3 if the process is not root. A dead mount left by an earlier daemon is removed first.
    /// The mount starts to respond when ``run()`` is called.
    /// - Parameter path: Without symbolic links, as returned by realpath(3): in a folder of another user they could lead
    ///   anywhere by now.
    public func mount(at path: String) throws(MountError) {
        guard let handle = state.withLock({ $0.phase == .new ? $0.handle : nil }) else {
            throw MountError("\(path): this session was mounted before")
        }
        let place: Int32
        do throws(Errno) { place = try HeldMountpoint.openLiving(path) } catch {
            let isLink = error == .tooManySymbolicLinkLevels
            throw MountError("\(path): \(isLink ? "a symbolic link is on the way" : "\(error)")")
        }
        defer { close(place) }
        cfuse_log_clear()
        var identity = cmount_identity()
        let result = options.withMount { cfuse_session_mount(handle, place, path, &$0, &identity) }
        guard result == 0 else { throw MountError("\(path): \(libraryMessage("the mount failed"))") }
        let pool = cfuse_pool_new(handle, UInt32(clamping: options.maxThreads), features.contains(.answersAtOnce))
        state.withLock { state in
            state.phase = .mounted
            state.identity = identity
            state.pool = pool
        }
    }

    /// Serves the mount until it is unmounted; then answers all parked replies and returns.
    /// Blocks the calling thread, which must not belong to Swift's pool. Requires ``mount(at:)``.
    ///
    /// The process should not have files of its own mount open, except with O_PATH: if it is killed, they are closed, and the
    /// flush waits for the same process. Over io_uring not even aborting the connection ends that.
    /// - Throws: EAGAIN if no thread could be created, EINVAL if nothing is mounted.
    public func run() throws(Errno) { try run { Thread($0) } }

    /// - Parameter makeThread: Starts the notifier's thread.
    func run(_ makeThread: (@escaping @Sendable () -> Void) -> Thread?) throws(Errno) {
        let (handle, pool) = state.withLock { ($0.phase == .mounted ? $0.handle : nil, $0.pool) }
        guard let handle, let pool else { throw .invalidArgument }
        let notifies = notifier.start(Unmanaged.passUnretained(self), makeThread)
        let error = notifies ? cfuse_pool_start(pool) : EAGAIN
        if error == 0 { cfuse_pool_wait(pool) }
        // The workers continue, refusing all requests, until nothing in this process can wait for the kernel any more.
        state.withLock { $0.phase = .ending }
        cfuse_pool_end(pool)
        lot.close()
        notifier.stop()
        cfuse_pool_stop(pool)
        fileSystem.stop()
        state.withLock { state in
            state.phase = .ended
            state.handle = nil
            state.pool = nil
        }
        release(handle, pool: pool)
        if error != 0 { throw Errno(rawValue: error) }
    }

    /// Closes the connection and removes the remains of the mount.
    private func release(_ handle: OpaquePointer, pool: OpaquePointer?) {
        // An aborted connection leaves its mount behind. If it can't be removed, the next mount does it.
        if var identity = state.withLock({ $0.identity }) { _ = cfuse_unmount_identified(&identity, true) }
        if let pool { cfuse_pool_free(pool) }
        registrar.withLock { $0.end() }
        fuse_session_destroy(handle)
    }
}
