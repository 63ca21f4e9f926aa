/// The answer to `open`, `create` and `opendir`.
public struct OpenedFile: Sendable {
    /// How the kernel treats the open file (FOPEN_*).
    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Reads and writes bypass the page cache.
        public static let directIO = Flags(rawValue: 1 << 0)
        /// Pages of the file that are in the page cache stay valid.
        public static let keepCache = Flags(rawValue: 1 << 1)
        public static let nonSeekable = Flags(rawValue: 1 << 2)
        /// The kernel may keep the listing of this folder.
        public static let cacheDirectory = Flags(rawValue: 1 << 3)
        /// No `flush` when a descriptor is closed.
        public static let noFlush = Flags(rawValue: 1 << 5)
        /// Direct writes to one file may run concurrently.
        public static let parallelDirectWrites = Flags(rawValue: 1 << 6)
        /// Reads and writes go to the backing file. Set by ``OpenedFile/backing``.
        static let passthrough = Flags(rawValue: 1 << 7)
    }

    public var handle: FileHandle
    public var flags: Flags
    /// The backing file that the kernel reads and writes directly.
    ///
    /// All concurrent opens of a node must use the same one, and none of them may be cached without it;
    /// otherwise the kernel answers EIO. Before a node is opened with a backing file, it may be opened with `directIO`.
    public var backing: BackingID?

    public init(handle: FileHandle = 0, flags: Flags = [], backing: BackingID? = nil) {
        self.handle = handle
        self.flags = flags
        self.backing = backing
    }

    var rawFlags: UInt32 {
        backing == nil ? flags.rawValue : flags.union(.passthrough).rawValue
    }
}

/// A backing file registered with the kernel, see ``Session/registerBacking(_:)``.
public struct BackingID: Hashable, Sendable {
    public let rawValue: Int32
}
