import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// The inotify(7) queue and the folders it watches, with a way to wake the thread that waits for it.
final class InotifyWatches: Sendable {
    /// A change of the entry `name` in a folder.
    struct Event {
        var place: EntryPlace
        var cause: ChangeCause
    }

    /// The contents of the queue.
    struct Batch {
        var events: [Event] = []
        /// The kernel dropped events, or a watch could not be kept.
        var hasGap = false
    }

    static let mask = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

    /// Nil if the user has no inotify instance left: then nothing is watched.
    let queue: OpenDescriptor?
    private let wakeReader: OpenDescriptor
    private let wakeWriter: OpenDescriptor
    let folders = Locked<[Int32: ItemKey]>([:])
    /// Set once the user's limit is reached: the feed can't report everything then.
    private let isFull: Locked<Bool>

    init() throws(Errno) {
        do {
            queue = OpenDescriptor(try SystemCalls.check { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
        } catch  where error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem || error == .noMemory {
            queue = nil
        }
        isFull = Locked(queue == nil)
        var ends: [Int32] = [-1, -1]
        try SystemCalls.check { pipe2(&ends, O_CLOEXEC | O_NONBLOCK) }
        wakeReader = OpenDescriptor(ends[0])
        wakeWriter = OpenDescriptor(ends[1])
    }

    var cannotWatchAll: Bool { isFull.withLock { $0 } }

    /// Starts watching a folder, unless it is watched already.
    func add(_ folder: OpenDescriptor, _ key: ItemKey) throws(Errno) {
        guard let queue else { return }
        do {
            let number = try SystemCalls.check { inotify_add_watch(queue.raw, folder.path, Self.mask) }
            folders.withLock { $0[number] = key }
        } catch .noSpace {
            isFull.withLock { $0 = true }
        } catch .noMemory {
            isFull.withLock { $0 = true }
        }
    }

    /// Stops watching folders that left the tree but still exist elsewhere.
    func remove(_ keys: Set<ItemKey>) {
        guard let queue else { return }
        let numbers = folders.withLock { folders in
            folders.filter { keys.contains($0.value) }.map(\.key)
        }
        for number in numbers { inotify_rm_watch(queue.raw, number) }
    }

    /// Wakes ``wait(milliseconds:)``.
    func wake() {
        var byte: UInt8 = 0
        // If the pipe is full, the thread will wake anyway.
        _ = write(wakeWriter.raw, &byte, 1)
    }

    /// Waits for events or ``wake()``, for at most this time; for ever with -1.
    func wait(milliseconds: Int32) {
        var polled = [
            pollfd(fd: queue?.raw ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeReader.raw, events: Int16(POLLIN), revents: 0),
        ]
        poll(&polled, nfds_t(polled.count), milliseconds)
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(wakeReader.raw, &bytes, bytes.count) > 0 {}
    }
}
