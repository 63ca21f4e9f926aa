internal import CLinux
internal import Glibc
internal import SystemPackage

/// `kept/`: files that must not stay in the tree and exist nowhere else.
extension StateFolders {
    /// Moves a file to ``kept``, named by its item's number and name. Files kept earlier stay.
    func keep(_ place: BackingPath, of number: UInt64, _ name: FileName) throws(Errno) {
        try keep(number, name) { (kept) throws(Errno) in try place.move(to: kept) }
    }

    /// Copies a file that stays where it is to ``kept``. The copy is on the disk when this returns.
    func keepCopy(of place: BackingPath, of number: UInt64, _ name: FileName) throws(Errno) {
        let file = try place.open(O_RDONLY | O_NONBLOCK)
        defer { close(file) }
        let size = try FileStatus(descriptor: file).size
        try keep(number, name) { (kept) throws(Errno) in
            let copy = try kept.name.withCString { (text) throws(Errno) in
                try Errno.check(openat(kept.folder, text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
            }
            defer { close(copy) }
            do throws(Errno) {
                let end = try SnapshotFiles(in: staging).copyAll(copy, file, size)
                try Errno.check(ftruncate(copy, Int(end)))
                try Errno.check(fsync(copy))
                let folder = try BackingPath(folder: kept.folder, name: FileName(".")).open(O_RDONLY | O_DIRECTORY)
                defer { close(folder) }
                try Errno.check(fsync(folder))
            } catch {
                _ = kept.name.withCString { unlinkat(kept.folder, $0, 0) }
                throw error
            }
        }
    }

    /// - Parameters:
    ///   - prefix: Of the file's name there.
    ///   - put: Puts the file at a free place in ``kept``.
    func keep(
        _ number: UInt64, _ name: FileName, prefix: String = "", _ put: (BackingPath) throws(Errno) -> Void
    ) throws(Errno) {
        let folder = try openKept()
        defer { close(folder) }
        for count in 1...1000 {
            let text = prefix + (count == 1 ? "\(number) " : "\(number)-\(count) ")
            let kept = BackingPath(folder: folder, name: FileName(bytes: Array(text.utf8) + name.bytes.prefix(220)))
            do throws(Errno) { return try put(kept) } catch {
                guard error == .fileExists else { throw error }
            }
        }
        throw .fileExists
    }

    /// An `O_PATH` descriptor of ``kept``.
    func openKept() throws(Errno) -> Int32 {
        try Errno.check(kept.withPlatformString { open($0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
    }

    /// Moves the only remaining copy to `kept/`; a placeholder has nothing to preserve.
    func preserveDeleted(_ row: ItemRow) throws(Errno) {
        let deleted = try openDeleted()
        defer { close(deleted) }
        let place = BackingPath(folder: deleted, name: FileName(row.asideName))
        guard row.kind != .folder, row.materialization != .dataless else {
            _ = place.name.withCString { unlinkat(deleted, $0, row.kind == .folder ? AT_REMOVEDIR : 0) }
            return
        }
        do throws(Errno) {
            try keep(place, of: row.number, row.name)
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }  // It is in the tree again.
        }
    }
}
