package import FuseMount
internal import Glibc
package import ReplicaModel
internal import SystemPackage
internal import Threads

/// A domain's replica as a filesystem: each request is one call of the replica and one reply.
///
/// Requests are answered on FuseMount's worker threads. Only those that wait for the store become tasks, with their
/// replies parked. Operations are in extensions, one family per file.
/// Large: a method for each request of the kernel.
package final class DomainFileSystem: FileSystem {
    let replica: Replica
    let source: any ContentSource
    let status: (any ItemStatusSource)?
    let options: FileSystemOptions
    /// Where it is mounted; nil to only invalidate caches on remote changes.
    let mountpoint: String?
    let files = HandleTable<OpenedItem>()
    let listings = ListingCache()
    let inodes = OpenInodes()
    let ownCalls = PresentationThreads()
    /// Data requests that reached the daemon, for tests and statistics.
    package let traffic = DataRequestCounts()
    private let current = Locked<Session?>(nil)

    /// A filesystem over `replica`.
    /// - Parameters:
    ///   - source: Fetches content and listings, usually the domain.
    ///   - status: Provides the virtual attributes; nil for none.
    ///   - mountpoint: The absolute path at which the session is mounted, so that remote changes can be made through
    ///     the mount and inotify sees them; nil to only invalidate.
    package init(
        replica: Replica, source: any ContentSource, status: (any ItemStatusSource)? = nil, mountpoint: String? = nil,
        options: FileSystemOptions = FileSystemOptions()
    ) {
        self.replica = replica
        self.source = source
        self.status = status
        self.mountpoint = mountpoint
        self.options = options
    }

    package var features: Features {
        let always: Features = [
            .readDirectoryPlus, .posixACL, .handleKillPrivileges, .cacheSymlinks, .explicitInvalidation,
            .answersAtOnce, .export,
        ]
        return options.usesPassthrough ? always.union(.passthrough) : always
    }

    /// The session while it lives.
    var session: Session? { current.withLock { $0 } }

    package func start(_ session: Session) {
        current.withLock { $0 = session }
        guard let mountpoint else { return }
        replica.setPresenter(
            MountPresenter(mountpoint: mountpoint, replica: replica, calls: ownCalls, notifier: session.notifier))
    }

    package func stop() {
        replica.setPresenter(nil)
        for file in files.removeAll() { close(file) }
        current.withLock { $0 = nil }
    }

    package func forget(_ nodes: UnsafeBufferPointer<Forget>) {
        for node in nodes { replica.forget(NodeNumber.number(node.node), count: node.count) }
    }
}

extension Errno {
    /// The calling thread's errno.
    static var last: Errno { Errno(rawValue: Glibc.errno) }
}
