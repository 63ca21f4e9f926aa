package import ReplicaModel

/// A storage's answer about a path. Untrusted until checked.
package struct PathEntry: Hashable, Sendable {
    package var path: StoragePath
    package var kind: PathKind
    /// Changes whenever the content does, as far as ``PathStorageProperties/changeGrain`` allows; nil for folders without
    /// one (``PathStorageProperties/foldersTellChanges``).
    package var version: String?
    /// The content's size in bytes; 0 for folders and symlinks.
    package var size: Int64
    /// Nil for attributes that a listing does not report; ``PathStorage/entry(at:)`` reports everything that is kept.
    package var attributes: PathAttributes
    /// The storage's own permanent identifier of the file, such as Nextcloud's file number, which survives a rename;
    /// nil if it has none.
    package var identity: String?
    /// Whether no later write can produce the same version, according to the storage's own clock. If not, and
    /// ``PathStorageProperties/changeGrain`` is not 0, the version is checked again after the grain has passed.
    package var isSettled: Bool

    package init(
        path: StoragePath, kind: PathKind, version: String? = nil, size: Int64 = 0,
        attributes: PathAttributes = PathAttributes(), identity: String? = nil, isSettled: Bool = false
    ) {
        self.path = path
        self.kind = kind
        self.version = version
        self.size = size
        self.attributes = attributes
        self.identity = identity
        self.isSettled = isSettled
    }
}

/// The kind of an entry.
package enum PathKind: Hashable, Sendable {
    case file
    case folder
    /// With its target.
    case symlink([UInt8])
}

/// An entry's metadata. Nil means unknown, or unchanged.
package struct PathAttributes: Hashable, Sendable {
    /// The twelve permission bits.
    package var mode: UInt16?
    package var modificationDate: Timestamp?
    /// The text that identifies a create whose answer was lost, at most 64 bytes of ASCII. It is kept with the entry if
    /// ``PathStorageProperties/keepsMarks`` is true.
    package var mark: String?

    package init(mode: UInt16? = nil, modificationDate: Timestamp? = nil, mark: String? = nil) {
        self.mode = mode
        self.modificationDate = modificationDate
        self.mark = mark
    }
}

/// A page of a folder's entries, with their full paths.
package struct PathPage: Sendable {
    package var entries: [PathEntry]
    /// Nil for the last page.
    package var next: EnumerationPage?
    /// What this page leaves out. Not of deep listings.
    package var leftOut: LeftOutNames

    package init(entries: [PathEntry], next: EnumerationPage? = nil, leftOut: LeftOutNames = LeftOutNames()) {
        self.entries = entries
        self.next = next
        self.leftOut = leftOut
    }
}
