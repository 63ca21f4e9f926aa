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
    }

    private func adoptEntries(of number: ItemNumber, in folder: Int32) throws {
        let found = try FolderListing(of: folder, mark: mark).lines.map { ($0.name, $0) }
        let lines = Dictionary(found, uniquingKeysWith: { first, _ in first })
        for row in try ItemRow.children(of: number, in: rows) {
            guard let line = lines[row.name], line.status.kind == row.kind, !row.flags.contains(.special) else {
                continue
            }
            let place = BackingPath(folder: folder, name: row.name)
            let fingerprint = FileFingerprint(line.status)
            guard row.kind == .folder || !fingerprint.hasOtherBytes(than: row.fingerprint) else { continue }
            do throws(Errno) { try restore(place, of: row, line) } catch {
                if error == .stale { continue }
                throw error
            }
            try update(ItemNumber(row.number), FileFingerprint(try place.status()))
            guard row.kind == .folder else { continue }
            let below = try place.open(CL_O_PATH | O_DIRECTORY)
            defer { close(below) }
            try adoptEntries(of: ItemNumber(row.number), in: below)
        }
    }

    /// Restores what the copy lacks.
    /// - Throws: ESTALE if it is the copy of another file.
    private func restore(_ place: BackingPath, of row: ItemRow, _ line: FolderListing.Line) throws(Errno) {
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
            if row.kind != .symlink, try file.status().permissions != row.fingerprint.mode {
                try file.setMode(UInt32(row.fingerprint.mode))
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
        try Errno.check(ftruncate(file, 0))
        try Errno.check(ftruncate(file, Int(row.fingerprint.size)))
        let time = Timestamp(nanoseconds: row.fingerprint.modified).timespec
        try Errno.check(futimens(file, [time, time]))
    }

    private static func isZero(_ file: Int32, size: Int64) throws(Errno) -> Bool {
        var block = [UInt8](repeating: 0, count: 1 << 16)
        for range in DataRanges(of: FileDescriptor(rawValue: file), in: 0..<size) {
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
