internal import CLinux
internal import GRDB
internal import Glibc
internal import SystemPackage

/// A tree that was copied or restored together with its database (cp, rsync, tar, a backup): every file has another inode number, and other
/// times of birth and change. The rows get those of the files that are otherwise as recorded; the scan decides about all others.
///
/// A copy may lack what the tool did not copy: the marks of placeholders, their holes, and modes. These are restored.
struct CopiedTree {
    /// The tree's root.
    let root: Int32
    let rows: Rows
    let mark: DatalessMark
    /// Whether the copy has the extended attributes, and so the marks.
    let hasAttributes: Bool

    /// Whether the root is another folder than the recorded one.
    static func isCopy(_ root: Int32, in rows: Rows) throws -> Bool {
        guard let known = try ItemRow.of(.root, in: rows)?.fingerprint, known.inode != 0 else { return false }
        return !known.isSameFile(as: FileFingerprint(try FileStatus(descriptor: root)))
    }

    func adopt() throws {
        try update(.root, FileFingerprint(try FileStatus(descriptor: root)))
        try adoptEntries(of: .root, in: root)
        // If this run ends before the scan, the next one makes it.
        try Meta.scan.write(String(ScanMode.afterExchange.rawValue), to: rows)
        // Tools that copy sync nothing, but the rows say what is on the disk.
        let folder = try BackingPath(root: root).open(O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        try Errno.check(syncfs(folder))
    }

    private func adoptEntries(of number: ItemNumber, in folder: Int32) throws {
        let found = try BackingFolderListing(of: folder, mark: mark).lines.map { ($0.name, $0) }
        let lines = Dictionary(found, uniquingKeysWith: { first, _ in first })
        for row in try ItemRow.children(of: number, in: rows) {
            guard let line = lines[row.name], line.status.kind == row.kind, !row.flags.contains(.special) else {
                continue
            }
            let place = BackingPath(folder: folder, name: row.name)
            guard row.kind == .folder || isCopy(FileFingerprint(line.status), of: row) else { continue }
            do {
                if row.kind == .folder { try adoptFolder(row, place) }
                try restore(place, of: row, line)
                try update(ItemNumber(row.number), FileFingerprint(try place.status()))
            } catch let error as Errno where !error.isFullDisk && error != .readOnlyFileSystem {
                continue  // What can't be read or restored is left to the scan.
            }
        }
    }

    private func adoptFolder(_ row: ItemRow, _ place: BackingPath) throws {
        let below = try place.open(CL_O_PATH | O_DIRECTORY)
        defer { close(below) }
        let lifted = try OwnerPermissions.lift(S_IRWXU, of: below)
        defer { if let lifted { OwnerPermissions.restore(lifted, of: below) } }
        try adoptEntries(of: ItemNumber(row.number), in: below)
    }

    /// Whether size and time are those of the row. Some tools only keep whole seconds, and the time of a placeholder proves nothing.
    private func isCopy(_ found: FileFingerprint, of row: ItemRow) -> Bool {
        guard found.size == row.fingerprint.size else { return false }
        if row.kind == .file, row.materialization == .dataless { return true }
        let second: Int64 = 1_000_000_000
        let (time, known) = (found.modified, row.fingerprint.modified)
        return time == known || time % second == 0 && time == known - (known % second + second) % second
    }

    /// Restores what the copy lacks.
    /// - Throws: ESTALE if it is the copy of another file.
    private func restore(_ place: BackingPath, of row: ItemRow, _ line: BackingFolderListing.Line) throws(Errno) {
        try place.hold { (file) throws(Errno) in
            if row.kind == .file, row.materialization == .dataless { try empty(file, row) }
            if mayBeEvicted(row) {
                do throws(Errno) { try empty(file, row) } catch {
                    guard error == .stale else { throw error }
                }
            }
            if row.kind == .file, row.materialization == .partial, !line.isDataless {
                try file.setXattr(OwnXattr.dataless, to: mark.value)
            }
            let status = try file.status()
            if row.kind == .file, FileFingerprint(status).modified != row.fingerprint.modified {
                let time = Timestamp(nanoseconds: row.fingerprint.modified).timespec
                try file.setTimes(accessed: timespec(tv_sec: 0, tv_nsec: CL_UTIME_OMIT), modified: time)
            }
            // Without set-ID bits: the copy may belong to another user.
            let mode = row.fingerprint.mode & 0o777
            if row.kind != .symlink, status.permissions & 0o777 != mode {
                try file.setMode(UInt32(status.permissions & 0o7000 | mode))
            }
        }
    }

    /// Whether it may have become a placeholder after it was recorded, and lost its mark.
    private func mayBeEvicted(_ row: ItemRow) -> Bool {
        !hasAttributes && row.kind == .file && row.materialization == .whole && row.base != nil
            && !row.dirty.contains(.contents) && row.fingerprint.size > 0
    }

    /// Makes the copy of a placeholder a placeholder: many tools write its holes as zeros.
    /// - Throws: ESTALE if it is none, because it has other bytes.
    private func empty(_ held: HeldFile, _ row: ItemRow) throws(Errno) {
        let file = try held.open(O_RDWR)
        defer { close(file) }
        guard try Self.isZero(file, size: row.fingerprint.size) else { throw .stale }
        try held.setXattr(OwnXattr.dataless, to: mark.value)
        try Tree.releaseBlocks(of: file, size: row.fingerprint.size)
        let time = Timestamp(nanoseconds: row.fingerprint.modified).timespec
        try Errno.check(futimens(file, [time, time]))
    }

    private static func isZero(_ file: Int32, size: Int64) throws(Errno) -> Bool {
        var block = [UInt8](repeating: 0, count: 1 << 16)
        for range in DataRanges(of: file, in: 0..<size) {
            var offset = range.lowerBound
            while offset < range.upperBound {
                let wanted = Int(min(Int64(block.count), range.upperBound - offset))
                let got = try Errno.check(pread(file, &block, wanted, off_t(offset)))
                if got == 0 { break }
                if block.prefix(got).contains(where: { $0 != 0 }) { return false }
                offset += Int64(got)
            }
        }
        return true
    }

    /// The round stays: what was on the disk as recorded is so in the copy.
    private func update(_ number: ItemNumber, _ fingerprint: FileFingerprint) throws {
        let statement = try rows.cachedStatement(
            sql: "UPDATE item SET inode = ?, born = ?, size = ?, modified = ?, changed = ? WHERE number = ?")
        try statement.execute(arguments: [
            Int64(bitPattern: fingerprint.inode), fingerprint.born, fingerprint.size, fingerprint.modified,
            fingerprint.changed, number.argument,
        ])
    }
}
