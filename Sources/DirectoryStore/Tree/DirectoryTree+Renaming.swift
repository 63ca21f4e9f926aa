import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// Names are given and taken here, by one call where the file system looks and renames at once, else by a look and a call:
/// a link where there are some, which replaces nothing either, or a rename right after the look. Between those two another
/// program that makes an entry of the same name loses it; two threads of ours never meet there.
extension DirectoryTree {
    /// Renames an entry to a free name.
    /// - Throws: `fileExists` if the name is taken.
    func give(
        _ newName: FileName, in newFolder: Handle, to name: FileName, in folder: Handle
    ) throws(Errno) {
        do {
            guard !abilities.renamesExactly else {
                return try Linux.rename(name, in: folder, to: newName, in: newFolder)
            }
            try renaming.withLock { count throws(Errno) in
                count += 1
                if try takesByLink(newName, in: newFolder, name, in: folder) { return }
                if try isTaken(newName, in: newFolder) { throw .fileExists }
                try Linux.rename(name, in: folder, to: newName, in: newFolder, flags: 0)
            }
        } catch .fileExists where !abilities.isCaseSensitive {
            // The name that it has, in other letters.
            let (old, new) = (try Linux.status(of: name, in: folder), try Linux.status(of: newName, in: newFolder))
            guard old.inode == new.inode, try !isExactly(newName, in: newFolder) else { throw .fileExists }
            try Linux.rename(name, in: folder, to: newName, in: newFolder, flags: 0)
        }
    }

    /// Renames an entry within its folder.
    func give(_ newName: FileName, to name: FileName, in folder: Handle) throws(Errno) {
        try give(newName, in: folder, to: name, in: folder)
    }

    /// Renames an entry to a unique temporary name.
    func putAside(_ name: FileName, as aside: FileName, in folder: Handle) throws(Errno) {
        let flags = abilities.renamesExactly ? CL_RENAME_NOREPLACE : 0
        try Linux.rename(name, in: folder, to: aside, in: folder, flags: flags)
    }

    /// False if hard links are not supported, or not for this entry.
    private func takesByLink(
        _ newName: FileName, in newFolder: Handle, _ name: FileName, in folder: Handle
    ) throws(Errno) -> Bool {
        do {
            try Linux.link(name, in: folder, to: newName, in: newFolder)
        } catch .fileExists {
            // A daemon that was killed between the two calls left both names: its rename is brought to an end.
            guard try isOne(name, in: folder, newName, in: newFolder) else { throw .fileExists }
        } catch .noSuchFileOrDirectory {
            throw .noSuchFileOrDirectory
        } catch {
            return false
        }
        do {
            try Linux.unlink(name, in: folder)
        } catch {
            // As a rename that may not take the old name away. Should the new one stay, the next try ends it.
            _ = try? Linux.unlink(newName, in: newFolder)
            throw error
        }
        return true
    }

    /// Whether two names refer to the same file.
    private func isOne(
        _ name: FileName, in folder: Handle, _ other: FileName, in otherFolder: Handle
    ) throws(Errno) -> Bool {
        let (one, two) = (try Linux.status(of: name, in: folder), try Linux.status(of: other, in: otherFolder))
        return one.kind != .folder && one.links > 1 && (one.device, one.inode) == (two.device, two.inode)
    }

    private func isTaken(_ name: FileName, in folder: Handle) throws(Errno) -> Bool {
        do {
            _ = try Linux.status(of: name, in: folder)
            return true
        } catch .noSuchFileOrDirectory {
            return false
        }
    }

    /// Puts a new file in the place of one whose content is `version`, by a look and a rename. What a link to the old one
    /// shows to have changed between them comes back.
    /// - Returns: Whether the old one had that content.
    func replace(
        _ place: Place, in folder: Handle, by name: FileName, ifContentIs version: String
    ) throws(Errno) -> Bool {
        let aside = TemporaryName.make()
        return try renaming.withLock { count throws(Errno) in
            count += 1
            guard contentVersion(of: try Linux.status(of: place.name, in: folder)) == version else { return false }
            // Without links nothing is kept: the look was all there is.
            let isKept = (try? Linux.link(place.name, in: folder, to: aside, in: folder)) != nil
            try Linux.rename(name, in: folder, to: place.name, in: folder, flags: 0)
            guard isKept else { return true }
            guard contentVersion(of: try Linux.status(of: aside, in: folder)) == version else {
                try Linux.rename(aside, in: folder, to: place.name, in: folder, flags: 0)
                return false
            }
            try Linux.unlink(aside, in: folder)
            return true
        }
    }

    /// Whether an entry has exactly this name. On a file system that is not case-sensitive, an entry found under another
    /// spelling is another item.
    func isExactly(_ name: FileName, in folder: Handle) throws(Errno) -> Bool {
        guard !abilities.isCaseSensitive else { return true }
        return try Linux.entries(of: folder).contains { $0.name == name }
    }
}
