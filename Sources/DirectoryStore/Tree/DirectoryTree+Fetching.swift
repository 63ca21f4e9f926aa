import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    /// Bytes per read.
    static let blockSize: Int64 = 1 << 20

    func fetch(
        _ identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink,
        _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> Item {
        let found = try locate(identifier)
        guard found.status.kind == .file else { throw .cannotSynchronize("only files have contents") }
        let path = path(found.names)
        let file = try at(path) { () throws(Errno) in
            try SystemCalls.open(found.place.name, in: found.folder, O_RDONLY | O_NONBLOCK)
        }
        let before = try at(path) { () throws(Errno) in try status(of: file, at: found.place) }
        // The file was replaced between the two lookups: a retry gets the answer for the new item.
        guard ItemKey(before, at: found.place) == found.key else { throw .versionNoLongerAvailable }
        if let version, version != before.contentVersion { throw .versionNoLongerAvailable }
        let wanted = (range ?? 0..<before.size).clamped(to: 0..<before.size)
        try copy(wanted, of: file, into: sink, path, flag)
        let after = try at(path) { () throws(Errno) in try status(of: file, at: found.place) }
        let item = try at(path) { () throws(Errno) in try describe(found.place, after, file) }
        // The file was written during the read: the bytes may be a mixture.
        guard item.version.content == before.contentVersion else { throw .versionNoLongerAvailable }
        if after.changed != before.changed {
            try drain()
            let isWritten = index.withLock { $0.writes.has(found.key, since: before.changed) }
            if isWritten { throw .versionNoLongerAvailable }
        }
        return item
    }

    private func copy(
        _ range: Range<Int64>, of file: OpenDescriptor, into sink: any ContentSink, _ path: String,
        _ flag: CancellationFlag
    ) throws(RemoteStoreError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(max(1, min(Self.blockSize, Int64(range.count)))), alignment: 4_096)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        for data in DataRanges(of: FileDescriptor(rawValue: file.raw), in: range) {
            if offset < data.lowerBound { try sink.writeZeros(in: offset..<data.lowerBound) }
            offset = data.lowerBound
            while offset < data.upperBound {
                try flag.check()
                let wanted = min(buffer.count, Int(data.upperBound - offset))
                let start = offset
                let count = try at(path) { () throws(Errno) in
                    try SystemCalls.check { pread(file.raw, buffer.baseAddress, wanted, off_t(start)) }
                }
                if count == 0 { throw .versionNoLongerAvailable }
                try sink.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
                offset += Int64(count)
            }
        }
        // A file that was truncated meanwhile has a different version.
        if offset < range.upperBound { try sink.writeZeros(in: offset..<range.upperBound) }
    }
}
