internal import CLinux
internal import Foundation
internal import Glibc
package import SystemPackage

/// What stays on disk when a domain is removed (statement 22; NSFileProviderManager.DomainRemovalMode).
package enum RemovalKeep: Sendable, Hashable, CaseIterable {
    /// What isn't in the store yet.
    case dirty
    /// Everything that is on this disk.
    case downloaded
    case nothing
}

/// What a removal left.
package struct Removal: Sendable, Hashable {
    /// Where what was kept is now, under the user's own names; nil when there was nothing to keep.
    package var preserved: FilePath?
    /// The files in it.
    package var files = 0
}

extension Domain {
    /// Stops the domain and takes it away; see ``StateFolders/remove(keep:name:)``. Nothing may be called after it.
    package func remove(keep: RemovalKeep, name: String) async throws -> Removal {
        try await stop()
        return try replica.folders.remove(keep: keep, name: name)
    }
}

extension StateFolders {
    /// Takes a domain away that no process serves: its tree, its database, everything. What is to be kept is moved to
    /// `NAME preserved DATE` beside the domain's folder first, without placeholders.
    /// - Parameter name: The domain's name.
    /// - Throws: EBUSY while a process serves the domain; the errno or the database's error that stands in the way.
    ///   What was not moved yet is still in the domain then.
    package func remove(keep: RemovalKeep, name: String) throws -> Removal {
        let lock = try lockForServing()
        defer { close(lock) }
        var removal = Removal()
        if keep != .nothing {
            let target = try freshFolder(for: name)
            let files = try preserve(keep, in: target)
            if rmdir(target.string) != 0 { removal.preserved = target }
            removal.files = files
        }
        // From here on there is no domain, whatever happens.
        let tombstone = root.removingLastComponent().appending(".\(name).removed-\(getpid())")
        guard rename(root.string, tombstone.string) == 0 else { throw Errno.last }
        try Self.removeAll(tombstone)
        return removal
    }

    private func freshFolder(for name: String) throws(Errno) -> FilePath {
        let day = Date().formatted(.iso8601.year().month().day())
        for count in 1...1000 {
            let suffix = count == 1 ? "" : " \(count)"
            let path = root.removingLastComponent().appending("\(name) preserved \(day)\(suffix)")
            if mkdir(path.string, 0o700) == 0 { return path }
            guard Errno.last == .fileExists else { throw .last }
        }
        throw .fileExists
    }

    /// Brings the database up to the tree and moves what is to be kept.
    private func preserve(_ keep: RemovalKeep, in target: FilePath) throws -> Int {
        let replica = try Replica.open(self, wake: {})
        try replica.scan()
        replica.settleWriters()
        try replica.record()
        let folder = try Self.open(target)
        defer { close(folder) }
        var files = try Preservation(replica: replica, keep: keep).move(.root, into: folder)
        try replica.close()
        files += try preserveKept(in: target)
        return files
    }

    /// What was preserved from deletions earlier goes along.
    private func preserveKept(in target: FilePath) throws(Errno) -> Int {
        let folder = try Self.open(kept)
        defer { close(folder) }
        let count = try FolderListing(of: folder, mark: nil).lines.count
        guard count > 0 else { return 0 }
        var name = "kept from deletions"
        while access(target.appending(name).string, F_OK) == 0 { name += " 2" }
        guard rename(kept.string, target.appending(name).string) == 0 else { throw .last }
        return count
    }

    private static func open(_ folder: FilePath) throws(Errno) -> Int32 {
        try Errno.check(folder.withPlatformString { Glibc.open($0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
    }

    /// Removes a folder with everything in it; symlinks are removed, never followed.
    /// - Throws: EXDEV where something is mounted, which stays as it is.
    static func removeAll(_ path: FilePath) throws(Errno) {
        let above = try open(path.removingLastComponent())
        defer { close(above) }
        try removeAll(FileName(path.lastComponent?.string ?? ""), in: above)
    }

    private static func removeAll(_ name: FileName, in above: Int32) throws(Errno) {
        let folder = try name.openFolder(in: above)
        defer { close(folder) }
        // A folder that its user made unreadable is still to go. What can't be removed even so is said below.
        try? HeldFile(descriptor: folder).setMode(0o700)
        for line in try FolderListing(of: folder, mark: nil).lines {
            if line.status.kind == .folder {
                try removeAll(line.name, in: folder)
            } else {
                try line.name.withCString { (text) throws(Errno) in try Errno.check(unlinkat(folder, text, 0)) }
            }
        }
        try name.withCString { (text) throws(Errno) in try Errno.check(unlinkat(above, text, AT_REMOVEDIR)) }
    }
}
