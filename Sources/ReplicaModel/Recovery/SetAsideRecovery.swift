internal import CLinux
internal import GRDB
internal import Glibc
internal import SystemPackage

/// After an unclean stop, reconciles the files that are set aside with their database rows, before the tree is
/// compared.
struct SetAsideRecovery {
    let folders: StateFolders
    /// The tree's root.
    let root: Int32
    let rows: Rows
    /// Distinguishes a placeholder from a file with local content.
    let mark: DatalessMark
    let scan: ScanMode
    /// The current round.
    let round: Int64

    func run() throws {
        let deleted = try folders.openDeleted()
        defer { close(deleted) }
        let known = Set(try SetAsideRows.all(in: rows).map(\.asideName))
        let lines = try BackingFolderListing(of: deleted, mark: mark).lines
        var unknown: [(row: ItemRow, depth: Int)] = []
        for line in lines where !known.contains(line.name.description) {
            if let row = try ofTree(line) {
                unknown.append((row, try depth(of: row)))
            } else {
                // Its removal was interrupted.
                let flags = line.status.kind == .folder ? AT_REMOVEDIR : 0
                _ = line.name.withCString { unlinkat(deleted, $0, flags) }
            }
        }
        if scan == .afterCrash {
            // Setting it aside was interrupted: the scan will find that it is gone from the tree.
            for (row, _) in unknown.sorted(by: { $0.depth > $1.depth }) {
                try SetAsideRows.write(row, to: rows, round: round)
            }
        } else {
            for (row, _) in unknown.sorted(by: { $0.depth < $1.depth }) { try putBack(row, from: deleted) }
        }
        let found = Set(lines.map(\.name.description))
        for row in try SetAsideRows.all(in: rows) where !found.contains(row.asideName) { try finishRestoring(row) }
    }

    /// The item of a file that is set aside although the database still has it in the tree.
    private func ofTree(_ line: BackingFolderListing.Line) throws -> ItemRow? {
        guard let number = UInt64(line.name.description), var row = try ItemRow.of(ItemNumber(number), in: rows),
            !row.flags.contains(.deleted), row.base != nil, row.kind == line.status.kind
        else { return nil }
        row.fingerprint = FileFingerprint(line.status)
        // Whether the content is local may have changed after the last record: the file decides.
        if row.kind == .file, line.isDataless == (row.materialization == .whole) {
            row.materialization = line.isDataless ? .dataless : .whole
            row.ranges = RangeSet64()
        }
        return row
    }

    private func depth(of row: ItemRow) throws -> Int {
        var (depth, number, seen) = (0, row.parent, Set<UInt64>())
        while number != ItemNumber.root.rawValue, seen.insert(number).inserted {
            guard let folder = try ItemRow.of(ItemNumber(number), in: rows) else { break }
            (depth, number) = (depth + 1, folder.parent)
        }
        return depth
    }

    /// Moves a file back into the tree. The database is older than the tree, so the store reports the deletion again if
    /// there was one. If the folder is gone or the name is taken, the file is preserved.
    private func putBack(_ row: ItemRow, from deleted: Int32) throws {
        guard let folder = try open(row.parent) else { return try folders.preserveDeleted(row) }
        defer { close(folder) }
        do throws(Errno) {
            try BackingPath(folder: deleted, name: FileName(row.asideName)).move(
                to: BackingPath(folder: folder, name: row.name))
        } catch {
            guard error == .fileExists else { throw error }
            try folders.preserveDeleted(row)
        }
    }

    /// Finishes giving back an item that is in the tree again although this was never recorded, unless it was removed
    /// there.
    private func finishRestoring(_ row: ItemRow) throws {
        try SetAsideRows.remove(ItemNumber(row.number), from: rows)
        guard let identifier = row.base?.identifier, let folder = try open(row.parent) else { return }
        defer { close(folder) }
        // If it is not there, it was removed.
        guard let status = try status(of: row.name, in: folder),
            row.fingerprint.isSameFile(as: FileFingerprint(status)),
            status.kind == row.kind, try ItemRow.of(ItemNumber(row.number), in: rows) == nil,
            try ItemRow.of(identifier, in: rows) == nil
        else { return }
        var row = row
        row.endUnsent()
        // Moving it back was not an edit.
        let fingerprint = FileFingerprint(status)
        if !fingerprint.hasOtherContent(than: row.fingerprint), fingerprint.mode == row.fingerprint.mode {
            row.fingerprint = fingerprint
        }
        try row.write(to: rows, round: round)
        try Incoming.write([Incoming(identifier: identifier, item: nil, asked: 1)], anchor: nil, to: rows)
    }

    private func status(of name: FileName, in folder: Int32) throws(Errno) -> FileStatus? {
        do throws(Errno) { return try FileStatus(name, in: folder) } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Opens a folder of the tree; nil if it is not where the database says.
    private func open(_ number: UInt64) throws -> Int32? {
        var names: [FileName] = []
        var (here, seen) = (number, Set<UInt64>())
        while here != ItemNumber.root.rawValue {
            guard seen.insert(here).inserted, let row = try ItemRow.of(ItemNumber(here), in: rows),
                !row.flags.contains(.deleted)
            else { return nil }
            names.append(row.name)
            here = row.parent
        }
        var folder = try Errno.check(openat(root, ".", CL_O_PATH | O_DIRECTORY | O_CLOEXEC))
        for name in names.reversed() {
            let above = folder
            defer { close(above) }
            do throws(Errno) { folder = try name.openFolder(in: above) } catch {
                guard [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels].contains(error) else {
                    throw error
                }
                return nil
            }
        }
        return folder
    }
}
