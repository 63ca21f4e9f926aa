internal import CLinux
internal import Foundation
internal import Glibc
package import SystemPackage

/// The files that stay on disk when a domain is removed (statement 22; NSFileProviderManager.DomainRemovalMode).
package enum RemovalKeep: Sendable, Hashable, CaseIterable {
    /// Files that are not in the store, as far as is known: not yet, or not any more because it deleted them. If the store was
    /// another one or could not be reached when it was last asked, everything that is on this disk.
    case dirty
    /// Everything that is on this disk.
    case downloaded
    case nothing
}

/// The result of a removal.
package struct Removal: Sendable, Hashable {
    /// The folder with the kept files, under the user's own names; nil if there was nothing to keep.
    package var preserved: FilePath?
    /// The files in it.
    package var files = 0
}

extension Domain {
    /// Stops and removes the domain; see ``StateFolders/remove(keep:name:unlist:)``. Nothing may be called after it.
    /// The store is asked first whether it still is the same one: what is in step with a lost one is nowhere else.
    package func remove(keep: RemovalKeep, name: String, unlist: () -> Void = {}) async throws -> Removal {
        if keep == .dirty {
            engine.callTimeouts.limitSilence(seconds: Self.longestLastCall)
            await verifyStore()
        }
        try await stop()
        return try replica.folders.remove(keep: keep, name: name, unlist: unlist)
    }
}

extension StateFolders {
    /// Removes a domain that no process serves: its tree, its database, everything. The files to be kept are moved to
    /// `NAME preserved DATE` next to the domain's folder first, without placeholders. If it is killed or fails at any
    /// moment, the domain is untouched, or can only be removed, and another removal continues.
    /// - Parameters:
    ///   - name: The domain's name.
    ///   - unlist: Removes the domain's link from the list of domains, if there is one. Called when the domain is
    ///     empty.
    /// - Throws: EBUSY while a process serves the domain; ``RemovalNotFinished`` for a failure after the first change,
    ///   before that its errno or the database's error.
    package func remove(keep: RemovalKeep, name: String, unlist: () -> Void = {}) throws -> Removal {
        let lock = try lockForServing()
        defer { close(lock) }
        var begun = try begunRemoval()
        do {
            if keep != .nothing, !begun.isPreserved { try preserve(keep, name, &begun) }
            begun.isPreserved = true
            let removal = try result(of: begun)
            try writeWithRoom(begun)
            try removeContents()
            try Errno.check(tree.withPlatformString { rmdir($0) })
            unlist()
            try removeRest()
            return removal
        } catch {
            guard isRemovalBegun else { throw error }
            // If it can't be searched for, it is not named.
            throw RemovalNotFinished(cause: error, preserved: try? preservedFolder(of: begun))
        }
    }

    private func result(of begun: RemovalRecord) throws(Errno) -> Removal {
        guard let path = try preservedFolder(of: begun) else { return Removal() }
        if path.withPlatformString({ rmdir($0) }) == 0 { return Removal() }
        let folder = try Self.open(path)
        defer { close(folder) }
        return Removal(preserved: path, files: try Self.countFiles(in: folder))
    }

    private static func countFiles(in folder: Int32) throws(Errno) -> Int {
        var count = 0
        for line in try BackingFolderListing(of: folder, mark: nil).lines {
            guard line.status.kind == .folder else {
                count += 1
                continue
            }
            let below = try line.name.openFolder(in: folder)
            defer { close(below) }
            count += try countFiles(in: below)
        }
        return count
    }
}

/// The files to be kept.
extension StateFolders {
    /// Updates the database from the tree and moves the files to be kept.
    private func preserve(_ keep: RemovalKeep, _ name: String, _ begun: inout RemovalRecord) throws {
        let replica = try Replica.open(self, wake: {})
        try replica.scan()
        replica.settleWriters()
        try replica.record()
        let target = try preservedFolder(of: begun) ?? makePreservedFolder(for: name)
        begun.preserved = target.lastComponent?.string
        do { try write(begun) } catch {
            _ = target.withPlatformString { rmdir($0) }
            throw error
        }
        let folder = try Self.open(target)
        defer { close(folder) }
        try Preservation(of: keep, in: replica).move(.root, into: folder)
        try replica.close()
        try preserveKept(in: folder)
    }

    private func makePreservedFolder(for name: String) throws(Errno) -> FilePath {
        let day = Date().formatted(.iso8601.year().month().day())
        for count in 1...1000 {
            let suffix = count == 1 ? "" : " \(count)"
            let path = root.removingLastComponent().appending("\(name) preserved \(day)\(suffix)")
            if mkdir(path.string, 0o700) == 0 { return path }
            guard Errno.last == .fileExists else { throw .last }
        }
        throw .fileExists
    }

    /// Files that were preserved from deletions earlier are moved too.
    private func preserveKept(in target: Int32) throws(Errno) {
        let above = try Self.open(root)
        defer { close(above) }
        let place = BackingPath(folder: above, name: FileName(kept.lastComponent?.string ?? ""))
        let folder = try place.name.openFolder(in: above)
        defer { close(folder) }
        guard try !BackingFolderListing(of: folder, mark: nil).lines.isEmpty else { return }
        try place.move(into: target, as: FileName("kept from deletions"))
    }

    private static func open(_ folder: FilePath) throws(Errno) -> Int32 {
        try Errno.check(folder.withPlatformString { Glibc.open($0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
    }
}

extension BackingPath {
    /// Moves it into a folder, under this name or a similar free one.
    func move(into folder: Int32, as wanted: FileName) throws(Errno) {
        for count in 1...1000 {
            let suffix = count == 1 ? [] : Array(" \(count)".utf8)
            let name = FileName(bytes: Array(wanted.bytes.prefix(255 - suffix.count)) + suffix)
            do throws(Errno) { return try move(to: BackingPath(folder: folder, name: name)) } catch {
                guard error == .fileExists else { throw error }
            }
        }
        throw .fileExists
    }
}

/// The files to be removed.
extension StateFolders {
    /// Writes the progress of the removal. On a full disk the database is removed to make space: without a database,
    /// files missing from the tree don't count as removed, so it can be removed first.
    private func writeWithRoom(_ begun: RemovalRecord) throws {
        do { return try write(begun) } catch let error as Errno where error.isFullDisk {
            for suffix in ["-wal", "-shm", ""] {
                let file = FilePath(database.string + suffix)
                guard file.withPlatformString({ unlink($0) }) == 0 || Errno.last == .noSuchFileOrDirectory else {
                    throw Errno.last
                }
            }
        }
        try write(begun)
    }

    /// Empties the tree and removes everything except the record of the removal. Entries that can't be removed stay.
    private func removeContents() throws(Errno) {
        let folder = try Self.open(root)
        defer { close(folder) }
        let last = [settings, tree, lock, removalRecord].compactMap { $0.lastComponent.map { FileName($0.string) } }
        try Self.removeEntries(of: folder) { !last.contains($0) }
        let tree = try FileName(self.tree.lastComponent?.string ?? "").openFolder(in: folder)
        defer { close(tree) }
        try Self.removeEntries(of: tree)
    }

    /// Removes the rest of a domain without a tree, even if a daemon still writes to its log.
    private func removeRest() throws(Errno) {
        for _ in 1...3 {
            try Self.removeAll(root)
            if root.withPlatformString({ access($0, F_OK) }) != 0 { return }
        }
    }

    /// Removes a folder with everything in it; symlinks are removed, never followed.
    /// - Throws: The first error; EXDEV if something is mounted there, which is not changed. Everything else is
    ///   removed.
    static func removeAll(_ path: FilePath) throws(Errno) {
        let above = try open(path.removingLastComponent())
        defer { close(above) }
        try removeAll(FileName(path.lastComponent?.string ?? ""), in: above)
    }

    private static func removeAll(_ name: FileName, in above: Int32) throws(Errno) {
        let folder = try name.openFolder(in: above)
        defer { close(folder) }
        try removeEntries(of: folder)
        try name.withCString { (text) throws(Errno) in try Errno.check(unlinkat(above, text, AT_REMOVEDIR)) }
    }

    private static func removeEntries(of folder: Int32, where isMeant: (FileName) -> Bool = { _ in true }) throws(Errno)
    {
        // A folder that its user made unreadable is removed too. If that fails, the error is reported below.
        try? HeldFile(descriptor: folder).setMode(0o700)
        var firstError: Errno?
        for line in try BackingFolderListing(of: folder, mark: nil).lines where isMeant(line.name) {
            do throws(Errno) {
                if line.status.kind == .folder {
                    try removeAll(line.name, in: folder)
                } else {
                    try line.name.withCString { (text) throws(Errno) in try Errno.check(unlinkat(folder, text, 0)) }
                }
            } catch {
                // It disappeared by itself, as daemons' sockets do.
                if error != .noSuchFileOrDirectory { firstError = firstError ?? error }
            }
        }
        if let firstError { throw firstError }
    }
}
