internal import CLinux
internal import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage
internal import Threads

/// Makes the system calls on the mount that show remote changes to the kernel and to inotify watchers.
///
/// Each call is made on a separate thread that is waited for with a limit: it may need a folder's lock held by a
/// program's request, which in turn waits for the engine. The engine then continues without it; the late call is
/// refused when it arrives, because it was abandoned.
final class MountPresenter: Presenter {
    private let mountpoint: String
    private let replica: Replica
    private let calls: PresentationThreads
    private let notifier: Notifier
    /// Folders with abandoned calls that are still in progress, and their number.
    private let stuck = Locked<[ItemNumber: Int]>([:])

    init(mountpoint: String, replica: Replica, calls: PresentationThreads, notifier: Notifier) {
        self.mountpoint = mountpoint
        self.replica = replica
        self.calls = calls
        self.notifier = notifier
    }

    /// Blocks the calling thread for a few local system calls, at worst up to ``WaitLimit``.
    func present(_ call: PresentedCall, _ ticket: PresentationTicket) -> Bool {
        let folders = call.folders
        guard stuck.withLock({ stuck in folders.allSatisfy { stuck[$0] == nil } }) else { return false }
        let thread = TimedThread()
        let isStarted = thread.start { [self] in
            let isMade = make(call, ticket)
            if !thread.finish(isMade) { unstick(folders) }
        }
        guard isStarted else { return false }
        return thread.wait { stick(folders) }
    }

    private func stick(_ folders: [ItemNumber]) {
        stuck.withLock { stuck in
            for folder in folders { stuck[folder, default: 0] += 1 }
        }
    }

    private func unstick(_ folders: [ItemNumber]) {
        stuck.withLock { stuck in
            for folder in folders {
                stuck[folder, default: 1] -= 1
                if stuck[folder] == 0 { stuck[folder] = nil }
            }
        }
    }

    private func make(_ call: PresentedCall, _ ticket: PresentationTicket) -> Bool {
        leaveDescriptors()
        let thread = gettid()
        calls.enter(thread, ticket)
        defer { calls.leave(thread) }
        let root = openRoot()
        guard root >= 0 else { return false }
        defer { close(root) }
        // Another filesystem that may be mounted there by now must not be changed: the request has to arrive here.
        var status = Glibc.statvfs()
        guard fstatvfs(root, &status) == 0, calls.isProven(thread) else { return false }
        return call.make(in: root)
    }

    /// Closes the process's descriptors for this thread only.
    ///
    /// When the daemon is killed, the connection ends with the last descriptor of its device. A thread that is waiting
    /// for the mount at that moment must not hold that descriptor: it would never get an answer, and could not be
    /// killed.
    private func leaveDescriptors() {
        let firstAfterOutput: UInt32 = 3
        // Fails only before Linux 5.9, where that protection is missing.
        _ = cl_close_range(firstAfterOutput, .max, UInt32(CL_CLOSE_RANGE_UNSHARE))
    }

    /// The mount's root; cloned if that is permitted, so that the mount is not busy for umount(8) meanwhile.
    private func openRoot() -> Int32 {
        let clone = cl_open_tree(AT_FDCWD, mountpoint, UInt32(CL_OPEN_TREE_CLONE | O_CLOEXEC))
        return clone >= 0 ? clone : Glibc.open(mountpoint, CL_O_PATH | O_DIRECTORY | O_CLOEXEC)
    }

    /// Must not be called with the replica's lock held.
    func invalidate(_ name: FileName, in folder: ItemNumber) {
        for node in nodes(of: folder) {
            notifier.invalidateEntry(parent: node, name: name.bytes)
            // Invalidating a name that the kernel does not know doesn't invalidate its cached listing.
            notifier.invalidateInode(node)
        }
    }

    /// Must not be called with the replica's lock held.
    func invalidate(_ number: ItemNumber) {
        for node in nodes(of: number) { notifier.invalidateInode(node) }
    }

    /// The kernel's nodes of an item: the one of its present file, and the one of the file that it replaced.
    private func nodes(of number: ItemNumber) -> [NodeID] {
        let generation = replica.generation(of: number)
        let present = NodeNumber.of(number, generation: generation)
        return generation > 0 ? [present, NodeNumber.of(number, generation: generation - 1)] : [present]
    }

    func afterInvalidations(_ body: @escaping @Sendable () -> Void) { notifier.afterQueued(body) }
}
