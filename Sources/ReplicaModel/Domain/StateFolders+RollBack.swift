internal import CLinux
internal import Glibc
package import SystemPackage

extension StateFolders {
    /// Creates the folders of a new domain. The remains of an attempt that was interrupted before the tree existed, or
    /// of a removal that was interrupted after it was gone, are removed first; anything else at that place is not ours
    /// to use.
    /// - Returns: A descriptor of the state's folder. No other process creates a domain there until it is closed.
    /// - Throws: EEXIST if something is there, EBUSY while another process creates a domain there.
    package func makeNew() throws(Errno) -> Int32 {
        let (held, isNew) = try holdNew()
        do throws(Errno) {
            if !isNew {
                guard try isLeftover(held) else { throw .fileExists }
                try empty(held)
            }
            for folder in [staging, kept] { try Errno.check(folder.withPlatformString { mkdir($0, 0o700) }) }
            return held
        } catch {
            // Its folders are still empty; existing entries stay.
            if isNew { for made in [kept, staging, root] { _ = made.withPlatformString { rmdir($0) } } }
            close(held)
            throw error
        }
    }

    /// Removes the remains of an interrupted attempt to create a domain elsewhere, and the link to it at `root`.
    package func rollBackLink() throws(Errno) {
        var byte: CChar = 0
        guard root.withPlatformString({ readlink($0, &byte, 1) }) >= 0,
            let found = root.withPlatformString({ realpath($0, nil) })
        else { return }
        let elsewhere = StateFolders(root: FilePath(platformString: found))
        free(found)
        let held = try elsewhere.hold()
        defer { close(held) }
        guard try elsewhere.isLeftover(held) else { return }
        try elsewhere.rollBack()
        try Errno.check(root.withPlatformString { unlink($0) })
    }

    /// Creates the state's folder, or uses an existing one, and locks it.
    private func holdNew() throws(Errno) -> (Int32, isNew: Bool) {
        for _ in 1...1000 {
            let isNew = root.withPlatformString { mkdir($0, 0o700) } == 0
            guard isNew || Errno.last == .fileExists else { throw .last }
            do throws(Errno) { return (try hold(), isNew) } catch {
                // It was removed in the meantime.
                guard error == .noSuchFileOrDirectory else { throw error }
            }
        }
        throw .resourceBusy
    }

    /// - Throws: EEXIST if it is not a folder, EBUSY if another process has locked it, ENOENT if it is gone.
    private func hold() throws(Errno) -> Int32 {
        let folder = root.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard folder >= 0 else { throw Errno.last == .noSuchFileOrDirectory ? .last : .fileExists }
        do throws(Errno) {
            guard flock(folder, LOCK_EX | LOCK_NB) == 0 else { throw Errno.last == .wouldBlock ? .resourceBusy : .last }
            let now = try Errno.check(
                root.withPlatformString { open($0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
            defer { close(now) }
            let (one, other) = (try FileStatus(descriptor: folder), try FileStatus(descriptor: now))
            guard one.inode == other.inode, one.device == other.device else { throw .noSuchFileOrDirectory }
            return folder
        } catch {
            close(folder)
            throw error
        }
    }

    /// Removes the folders of a new domain whose tree is gone again, with the files that were created in them.
    /// - Throws: ENOTEMPTY if it contains anything else.
    package func rollBack() throws(Errno) {
        let folder = try Errno.check(
            root.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
        defer { close(folder) }
        try empty(folder)
        try Errno.check(root.withPlatformString { rmdir($0) })
    }

    private func empty(_ folder: Int32) throws(Errno) {
        for line in try BackingFolderListing(of: folder, mark: nil).lines where line.status.kind != .folder {
            try line.name.withCString { (text) throws(Errno) in try Errno.check(unlinkat(folder, text, 0)) }
        }
        for folder in [staging, kept, deleted] {
            let isGone = folder.withPlatformString { rmdir($0) } == 0
            guard isGone || Errno.last == .noSuchFileOrDirectory else { throw .last }
        }
    }

    /// Removes the tree of a new domain that never had local content.
    package func rollBackTree() throws(Errno) {
        try Errno.check(tree.withPlatformString { rmdir($0) })
    }

    /// Moves the tree back to where it was imported from, without the replica's marks. The domain is not open.
    /// - Throws: EEXIST if there is something else by now. The tree then stays where it is.
    package func moveTreeBack(to directory: DirectoryToImport) throws(Errno) {
        for mark in [OwnXattr.epoch, OwnXattr.dataless] {
            let isGone = tree.withPlatformString { lremovexattr($0, mark) } == 0
            guard isGone || Errno.last == .noAttribute || Errno.last == .notSupported else { throw .last }
        }
        try directory.moveBack(from: tree)
    }

    /// Whether the state's place is an empty folder of this user, or a private one that contains only files that are
    /// created before the tree or removed after it.
    private func isLeftover(_ folder: Int32) throws(Errno) -> Bool {
        let status = try FileStatus(descriptor: folder)
        guard status.user == geteuid() else { return false }
        let lines = try BackingFolderListing(of: folder, mark: nil).lines
        let files = [settings, mark, Self.fresh(mark), lock, removalRecord, Self.fresh(removalRecord)]
        let known = (files + [staging, kept, deleted]).compactMap { $0.lastComponent?.string }
        let isOurs =
            status.permissions == 0o700
            && lines.allSatisfy { line in known.contains { line.name == FileName($0) } }
        return lines.isEmpty || isOurs
    }
}
