import CLinux
import Glibc
import ReplicaModel
import Threads

/// Reading of the events of inotify(7), and of its overflows.
extension InotifyWatches {
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
