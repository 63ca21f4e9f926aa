import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// Renames entries without replacing others: by one call if the filesystem supports that, otherwise by a check followed
/// by a link, which doesn't replace anything either, or by a rename. An entry that another program creates under the
/// same name between check and rename is lost; threads of this store exclude each other.
extension DirectoryTree {
    /// Renames an entry to a free name.
    /// - Throws: `fileExists` if the name is taken.
    func give(
        _ newName: FileName, in newFolder: OpenDescriptor, to name: FileName, in folder: OpenDescriptor
    ) throws(Errno) {
        do {
            guard !abilities.renamesExactly else {
                return try SystemCalls.rename(name, in: folder, to: newName, in: newFolder)
            }
            try renaming.withLock { count throws(Errno) in
                count += 1
                if try takesByLink(newName, in: newFolder, name, in: folder) { return }
                if try isTaken(newName, in: newFolder) { throw .fileExists }
                try SystemCalls.rename(name, in: folder, to: newName, in: newFolder, flags: 0)
            }
        } catch .fileExists where !abilities.isCaseSensitive {
            // The item's own name in another spelling.
            guard try findsSame(name, in: folder, newName, in: newFolder), try !isExactly(newName, in: newFolder)
            else { throw .fileExists }
            try SystemCalls.rename(name, in: folder, to: newName, in: newFolder, flags: 0)
        }
    }

    /// Whether two names that a filesystem without case finds are one entry. On FUSE (exFAT), an entry may have another
    /// inode number under each spelling.
    private func findsSame(
        _ name: FileName, in folder: OpenDescriptor, _ other: FileName, in otherFolder: OpenDescriptor
    ) throws(Errno) -> Bool {
        let (old, new) = (
            try SystemCalls.status(of: name, in: folder), try SystemCalls.status(of: other, in: otherFolder)
        )
        if old.inode == new.inode { return true }
        guard try SystemCalls.status(of: folder).inode == SystemCalls.status(of: otherFolder).inode else {
            return false
        }
        return name.description.lowercased() == other.description.lowercased()
    }

    /// Renames an entry within its folder.
    func give(_ newName: FileName, to name: FileName, in folder: OpenDescriptor) throws(Errno) {
        try give(newName, in: folder, to: name, in: folder)
    }

    /// Renames an entry to a unique temporary name.
    func putAside(_ name: FileName, as aside: FileName, in folder: OpenDescriptor) throws(Errno) {
        let flags = abilities.renamesExactly ? CL_RENAME_NOREPLACE : 0
        try SystemCalls.rename(name, in: folder, to: aside, in: folder, flags: flags)
    }

    /// False if hard links are not supported, or not for this entry.
    private func takesByLink(
        _ newName: FileName, in newFolder: OpenDescriptor, _ name: FileName, in folder: OpenDescriptor
    ) throws(Errno) -> Bool {
        do {
            try SystemCalls.link(name, in: folder, to: newName, in: newFolder)
        } catch .fileExists {
            // A daemon that was killed between the two calls left both names: its rename is completed.
            guard try isOne(name, in: folder, newName, in: newFolder) else { throw .fileExists }
        } catch .noSuchFileOrDirectory {
            throw .noSuchFileOrDirectory
        } catch {
            return false
        }
        do {
            try SystemCalls.unlink(name, in: folder)
        } catch {
            // If the old name can't be removed, the rename fails. If the new name then stays, the next attempt
            // completes the rename.
            _ = try? SystemCalls.unlink(newName, in: newFolder)
            throw error
        }
        return true
    }

    /// Whether two names refer to the same file.
    private func isOne(
        _ name: FileName, in folder: OpenDescriptor, _ other: FileName, in otherFolder: OpenDescriptor
    ) throws(Errno) -> Bool {
        let (one, two) = (
            try SystemCalls.status(of: name, in: folder), try SystemCalls.status(of: other, in: otherFolder)
        )
        return one.kind != .folder && one.links > 1 && (one.device, one.inode) == (two.device, two.inode)
    }

    private func isTaken(_ name: FileName, in folder: OpenDescriptor) throws(Errno) -> Bool {
        do {
            _ = try SystemCalls.status(of: name, in: folder)
            return true
        } catch .noSuchFileOrDirectory {
            return false
        }
    }

    /// Replaces a file whose content is `version`, by a check and a rename. If a link to the old file shows that it
    /// changed in between, the old file is restored.
    /// - Returns: Whether the old file had that content.
    func replace(
        _ place: EntryPlace, in folder: OpenDescriptor, by name: FileName, ifContentIs version: String
    ) throws(Errno) -> Bool {
        let aside = TemporaryName.make()
        return try renaming.withLock { count throws(Errno) in
            count += 1
            guard contentVersion(of: try SystemCalls.status(of: place.name, in: folder)) == version else {
                return false
            }
            // Without links, the check is the only protection.
            let isKept = (try? SystemCalls.link(place.name, in: folder, to: aside, in: folder)) != nil
            try SystemCalls.rename(name, in: folder, to: place.name, in: folder, flags: 0)
            guard isKept else { return true }
            guard contentVersion(of: try SystemCalls.status(of: aside, in: folder)) == version else {
                try SystemCalls.rename(aside, in: folder, to: place.name, in: folder, flags: 0)
                return false
            }
            try SystemCalls.unlink(aside, in: folder)
            return true
        }
    }

    /// Whether an entry has exactly this name. On a filesystem that is not case-sensitive, an entry found under another
    /// spelling is another item.
    func isExactly(_ name: FileName, in folder: OpenDescriptor) throws(Errno) -> Bool {
        guard !abilities.isCaseSensitive else { return true }
        return try SystemCalls.entries(of: folder).contains { $0.name == name }
    }
}
