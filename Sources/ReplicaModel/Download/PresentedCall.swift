/// An item, and its path from the mount's root.
///
/// The path was correct when it was determined. A user who may rename there can replace the item, or any folder on the
/// path by a symlink, before the path is walked: only an entry with this number is the item.
package struct PresentedItem: Sendable, Hashable {
    /// The names from the root down; empty for the root itself.
    package var path: [FileName]
    /// The inode number that programs see.
    package var number: ItemNumber

    /// The item `number` at `path`.
    package init(path: [FileName], number: ItemNumber) {
        self.path = path
        self.number = number
    }
}

/// The system call that presents a remote change.
package enum PresentedCall: Sendable, Hashable {
    case makeFile(FileName, in: PresentedItem)
    case makeFolder(FileName, in: PresentedItem)
    case makeSymlink(FileName, in: PresentedItem)
    case rename(FileName, in: PresentedItem, to: FileName, into: PresentedItem)
    case remove(FileName, in: PresentedItem, isFolder: Bool)
    /// The content changed.
    case touchContent(PresentedItem, size: Int64)
    /// Only the status changed.
    case touchStatus(PresentedItem)

    /// The names that it changes, first the one in its request. For a call on an item itself: its number, with an empty
    /// name.
    var places: [ItemPlace] {
        switch self {
        case .makeFile(let name, let folder), .makeFolder(let name, let folder), .makeSymlink(let name, let folder),
            .remove(let name, let folder, _):
            [ItemPlace(folder: folder.number, name: name)]
        case .rename(let old, let from, let new, let into):
            [ItemPlace(folder: from.number, name: old), ItemPlace(folder: into.number, name: new)]
        case .touchContent(let item, _), .touchStatus(let item): [ItemPlace(folder: item.number, name: FileName(""))]
        }
    }

    /// The call that creates an item of this kind.
    static func make(_ kind: ItemKind, _ name: FileName, in folder: PresentedItem) -> PresentedCall {
        switch kind {
        case .file: .makeFile(name, in: folder)
        case .folder: .makeFolder(name, in: folder)
        case .symlink: .makeSymlink(name, in: folder)
        }
    }
}
