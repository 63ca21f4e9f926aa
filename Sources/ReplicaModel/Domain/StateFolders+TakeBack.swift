internal import CLinux
internal import Glibc
package import SystemPackage

extension StateFolders {
    /// Makes the folders of a new domain. What an attempt left that was broken off before there was a tree is taken away
    /// first; anything else that is there is not ours to use.
    /// - Throws: EEXIST when something is there.
    package func makeNew() throws(Errno) {
        if try isLeftover() { try takeBack() }
        for folder in [root, staging, kept] {
            guard folder.withPlatformString({ mkdir($0, 0o700) }) == 0 else {
                let error = Errno.last
                // Its folders are empty yet; what was there before stays.
                if folder != root { for made in [kept, staging, root] { _ = made.withPlatformString { rmdir($0) } } }
                throw error
            }
        }
    }

    /// Takes the folders of a new domain away, whose tree is gone again, with the files that were made in them.
    /// - Throws: ENOTEMPTY when there is anything else in it.
    package func takeBack() throws(Errno) {
        let folder = try Errno.check(
            root.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
        defer { close(folder) }
        for line in try FolderListing(of: folder, mark: nil).lines where line.status.kind != .folder {
            try line.name.withCString { (text) throws(Errno) in try Errno.check(unlinkat(folder, text, 0)) }
        }
        for folder in [staging, kept, deleted, root] {
            let isGone = folder.withPlatformString { rmdir($0) } == 0
            guard isGone || Errno.last == .noSuchFileOrDirectory else { throw .last }
        }
    }

    /// Takes the tree of a new domain away, of which nothing was ever here.
    package func takeBackTree() throws(Errno) {
        try Errno.check(tree.withPlatformString { rmdir($0) })
    }

    /// Moves the tree back to where it was imported from, without the replica's marks. The domain is not open.
    /// - Throws: EEXIST when something else is there by now. The tree stays where it is then.
    package func giveBack(to directory: FilePath) throws(Errno) {
        for mark in [OwnXattr.epoch, OwnXattr.dataless] {
            let isGone = tree.withPlatformString { lremovexattr($0, mark) } == 0
            guard isGone || Errno.last.rawValue == ENODATA || Errno.last == .notSupported else { throw .last }
        }
        let moved = tree.withPlatformString { from in
            directory.withPlatformString { renameat2(AT_FDCWD, from, AT_FDCWD, $0, UInt32(CL_RENAME_NOREPLACE)) }
        }
        try Errno.check(moved)
    }

    /// Whether what is at the state's place is an empty folder of ours, or a private one with nothing in it but what is
    /// made before the tree.
    private func isLeftover() throws(Errno) -> Bool {
        let folder = root.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard folder >= 0 else { return false }
        defer { close(folder) }
        let status = try FileStatus(descriptor: folder)
        guard status.user == geteuid() else { return false }
        let lines = try FolderListing(of: folder, mark: nil).lines
        let known = [settings, mark, staging, kept].compactMap { $0.lastComponent?.string }
        let isOurs =
            status.permissions == 0o700
            && lines.allSatisfy { line in known.contains { line.name == FileName($0) } }
        return lines.isEmpty || isOurs
    }
}
