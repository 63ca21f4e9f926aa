/// Answers `lookup`, `mknod`, `mkdir`, `symlink` and `link`.
public typealias EntryReply = Reply<Entry>
/// Answers `getattr` and `setattr`.
public typealias AttributesReply = Reply<Attributes>
/// Answers `statx`.
public typealias BirthReply = Reply<BirthStatus>
/// Answers operations that only succeed or fail.
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
/// Answers `ioctl`.
public typealias ControlReply = Reply<ControlAnswer>
/// Answers `lseek`.
public typealias OffsetReply = Reply<FileOffset>

/// Identifies a kind of ``Reply``; has no values.
public enum LinkTarget {}
/// Identifies a kind of ``Reply``; has no values.
public enum FileData {}
/// Identifies a kind of ``Reply``; has no values.
public enum ByteCount {}
/// Identifies a kind of ``Reply``; has no values.
public enum DirectoryListing {}
/// Identifies a kind of ``Reply``; has no values.
public enum AttributeValue {}
/// Identifies a kind of ``Reply``; has no values.
public enum ControlAnswer {}
/// Identifies a kind of ``Reply``; has no values.
public enum FileOffset {}
