/// How a file is opened.
public struct OpenOptions: Sendable {
    /// The flags of open(2).
    public let flags: Int32
    /// The filesystem must clear suid and sgid along with O_TRUNC (KILLPRIV_V2).
    public let killPrivileges: Bool
}

/// How to write the bytes.
public struct WriteOptions: Sendable {
    /// The flags of the open file (O_APPEND, O_DIRECT, O_SYNC, ...).
    public let flags: Int32
    /// The filesystem must clear suid and sgid (KILLPRIV_V2).
    public let killPrivileges: Bool
    /// The kernel writes back cached pages: the IDs in the request are not those of the writer.
    public let fromPageCache: Bool
}

/// A place in an open file.
public struct FileRange: Sendable {
    public let node: NodeID
    public let handle: FileHandle
    public let offset: Int64
}
