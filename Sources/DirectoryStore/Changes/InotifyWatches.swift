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
    private let queue: Handle?
    private let wakeReader: Handle
    private let wakeWriter: Handle
    private let folders = Locked<[Int32: ItemKey]>([:])
    /// Set once the user's limit is reached: the feed can't report everything then.
    private let isFull: Locked<Bool>

    init() throws(Errno) {
        do {
            queue = Handle(try Linux.check { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
        } catch  where error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem || error == .noMemory {
            queue = nil
        }
        isFull = Locked(queue == nil)
        var ends: [Int32] = [-1, -1]
        try Linux.check { pipe2(&ends, O_CLOEXEC | O_NONBLOCK) }
        wakeReader = Handle(ends[0])
        wakeWriter = Handle(ends[1])
    }

    var cannotWatchAll: Bool { isFull.withLock { $0 } }

    /// Starts watching a folder, unless it is watched already.
    func add(_ folder: Handle, _ key: ItemKey) throws(Errno) {
        guard let queue else { return }
        do {
            let number = try Linux.check { inotify_add_watch(queue.raw, folder.path, Self.mask) }
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

    /// Takes only the events that are in the queue now; otherwise this might never end.
    func take() -> Batch {
        var batch = Batch()
        guard let queue else { return batch }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { buffer.deallocate() }
        var queued: Int32 = 0
        guard ioctl(queue.raw, UInt(FIONREAD), &queued) == 0 else { return batch }
        while queued > 0 {
            let length = read(queue.raw, buffer.baseAddress, buffer.count)
            if length <= 0 { break }
            parse(UnsafeRawBufferPointer(rebasing: buffer[..<length]), into: &batch)
            queued -= Int32(length)
        }
        return batch
    }

    private func parse(_ bytes: UnsafeRawBufferPointer, into batch: inout Batch) {
        let header = MemoryLayout<inotify_event>.size
        var offset = 0
        folders.withLock { folders in
            while offset + header <= bytes.count {
                let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let text = bytes[(offset + header)..<(offset + header + Int(event.len))].prefix { $0 != 0 }
                offset += header + Int(event.len)
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { batch.hasGap = true }
                guard let key = folders[event.wd] else { continue }
                if event.mask & UInt32(IN_IGNORED) != 0 { folders[event.wd] = nil }
                let name = FileName(bytes: Array(text))
                if name.bytes.isEmpty || TemporaryName.matches(name) { continue }
                var cause: ChangeCause = []
                if event.mask & UInt32(IN_MOVED_FROM) != 0 { cause.insert(.movedAway) }
                if event.mask & UInt32(IN_ATTRIB) != 0 { cause.insert(.attributes) }
                if event.mask & UInt32(IN_MODIFY) != 0 { cause.insert(.written) }
                if event.mask & UInt32(IN_CLOSE_WRITE) != 0 { cause.insert(.closed) }
                batch.events.append(Event(place: EntryPlace(parent: key, name: name), cause: cause))
            }
        }
    }
}
