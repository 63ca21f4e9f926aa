internal import CFuse

/// Answers `lookup`, `mknod`, `mkdir`, `symlink` and `link`.
public typealias EntryReply = Reply<Entry>
/// Answers `getattr` and `setattr`.
public typealias AttributesReply = Reply<Attributes>
/// Answers `statx`.
public typealias BirthReply = Reply<BirthStatus>
/// Answers what only succeeds or fails.
public typealias EmptyReply = Reply<Void>
/// Answers `open` and `opendir`.
public typealias OpenReply = Reply<OpenedFile>
/// Answers `create` and `tmpfile`.
public typealias CreateReply = Reply<(Entry, OpenedFile)>
/// Answers `statfs`.
public typealias StatisticsReply = Reply<Statistics>
/// Answers `getlk`.
public typealias LockReply = Reply<FileLock>
/// Answers `readlink`.
public typealias LinkTargetReply = Reply<LinkTarget>
/// Answers `read`.
public typealias DataReply = Reply<FileData>
/// Answers `write` and `copy_file_range`.
public typealias CountReply = Reply<ByteCount>
/// Answers `readdir` and `readdirplus`.
public typealias DirectoryReply = Reply<DirectoryListing>
/// Answers `getxattr` and `listxattr`.
public typealias AttributeValueReply = Reply<AttributeValue>
/// Answers `lseek`.
public typealias OffsetReply = Reply<FileOffset>

/// Names a kind of ``Reply``; has no values.
public enum LinkTarget {}
/// Names a kind of ``Reply``; has no values.
public enum FileData {}
/// Names a kind of ``Reply``; has no values.
public enum ByteCount {}
/// Names a kind of ``Reply``; has no values.
public enum DirectoryListing {}
/// Names a kind of ``Reply``; has no values.
public enum AttributeValue {}
/// Names a kind of ``Reply``; has no values.
public enum FileOffset {}

extension Reply where Answer == Entry {
    public consuming func send(_ entry: Entry) { fatalError() }
}

extension Reply where Answer == Attributes {
    /// - Parameter timeout: how long the attributes stay valid, in seconds.
    public consuming func send(_ attributes: Attributes, timeout: Double) { fatalError() }
}

extension Reply where Answer == BirthStatus {
    public consuming func send(_ status: BirthStatus) { fatalError() }
}

extension Reply where Answer == Void {
    public consuming func succeed() { fatalError() }
}

extension Reply where Answer == OpenedFile {
    /// - Returns: false when the open never reached its caller (a signal, the end of the mount). No `release` will
    ///   come then; the filesystem closes by itself.
    @discardableResult
    public consuming func send(_ file: OpenedFile) -> Bool { fatalError() }
}

extension Reply where Answer == (Entry, OpenedFile) {
    /// - Returns: false when the open never reached its caller: no `release` and no `forget` will come.
    @discardableResult
    public consuming func send(_ entry: Entry, _ file: OpenedFile) -> Bool { fatalError() }
}

extension Reply where Answer == Statistics {
    public consuming func send(_ statistics: Statistics) { fatalError() }
}

extension Reply where Answer == FileLock {
    /// Answers the lock in the way, or one of type F_UNLCK.
    public consuming func send(_ lock: FileLock) { fatalError() }
}

extension Reply where Answer == LinkTarget {
    /// - Parameter target: ends with a NUL; at most PATH_MAX - 1 bytes.
    public consuming func send(_ target: UnsafePointer<CChar>) { fatalError() }
}

extension Reply where Answer == FileData {
    /// Answers bytes; fewer than were asked for mean the end of the file. They are copied before this returns.
    public consuming func send(_ bytes: UnsafeRawBufferPointer) { fatalError() }

    /// Answers up to `count` bytes of an open file at `offset`, without a copy where splice(2) helps.
    /// An error in reading it is answered as such. The descriptor may be closed after this returns.
    public consuming func send(descriptor: Int32, offset: Int64, count: Int) { fatalError() }
}

extension Reply where Answer == ByteCount {
    /// Answers how many bytes were written. Fewer than came are lost to the program with no error: write them all.
    public consuming func send(_ count: Int) { fatalError() }
}

extension Reply where Answer == DirectoryListing {
    /// Answers entries; an empty buffer means the end.
    public consuming func send(_ entries: borrowing DirectoryBuffer) { fatalError() }
}

extension Reply where Answer == AttributeValue {
    /// Answers a value: its size when `size`, the caller's room, is 0; ERANGE when it is too small.
    public consuming func send(_ value: UnsafeRawBufferPointer, size: Int) { fatalError() }
    /// Answers only how many bytes a value has.
    public consuming func send(length: Int) { fatalError() }
}

extension Reply where Answer == FileOffset {
    public consuming func send(_ offset: Int64) { fatalError() }
}
