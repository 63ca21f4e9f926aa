internal import CLinux
internal import Glibc
package import SystemPackage
internal import Threads

/// Permissions that modes deny to an ordinary user who owns the items: a file with mode 0444 has to be filled, and a folder with
/// mode 0555 has to follow the store.
///
/// The daemon gives itself the missing permissions for the duration of a change. Root needs none. Programs gain nothing: the kernel
/// checks the modes that it was told before it sends a request.
package enum OwnerPermissions {
    /// What changes of a folder's entries need.
    package static let toChangeEntries: CInterop.Mode = S_IWUSR | S_IXUSR

    /// Makes one system call on an item. If that is forbidden, makes it with these permissions of the owner.
    /// - Parameter descriptor: The item's; an `O_PATH` one too.
    @discardableResult
    package static func ifNeeded<Result>(
        _ permissions: CInterop.Mode, of descriptor: Int32, _ call: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        do throws(Errno) {
            return try call()
        } catch {
            guard error == .permissionDenied, geteuid() != 0 else { throw error }
            // One at a time: the mode that is restored must not be another's lifted one.
            return try lifting.withLock { (_) throws(Errno) in try with(permissions, of: descriptor, call) }
        }
    }

    private static let lifting = Locked((), rank: .innermost)

    /// Makes several calls on an item that has these permissions of the owner.
    package static func with<Result>(
        _ permissions: CInterop.Mode, of descriptor: Int32, _ calls: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        guard let mode = try lift(permissions, of: descriptor) else { return try calls() }
        defer { restore(mode, of: descriptor) }
        return try calls()
    }

    /// Adds permissions to an item of this user.
    /// - Returns: The mode to restore; nil if nothing was changed.
    package static func lift(_ permissions: CInterop.Mode, of descriptor: Int32) throws(Errno) -> CInterop.Mode? {
        guard geteuid() != 0 else { return nil }
        var status = stat()
        try Errno.check(fstat(descriptor, &status))
        let mode = status.st_mode & 0o7777
        guard status.st_uid == geteuid(), status.st_mode & S_IFMT != S_IFLNK, mode & permissions != permissions,
            canRestore(mode, group: status.st_gid)
        else { return nil }
        try Errno.check(chmod("\(CL_DESCRIPTORS)\(descriptor)", mode | permissions))
        return mode
    }

    /// Takes back what ``lift(_:of:)`` added.
    package static func restore(_ mode: CInterop.Mode, of descriptor: Int32) {
        // If the disk fails, the next call on the item reports it.
        _ = chmod("\(CL_DESCRIPTORS)\(descriptor)", mode)
    }

    /// Whether a mode can be set again after it was changed: chmod(2) by a user who is not in the file's group drops its
    /// set-group-ID bit.
    private static func canRestore(_ mode: CInterop.Mode, group: gid_t) -> Bool {
        guard mode & S_ISGID != 0, group != getegid() else { return true }
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return groups.prefix(max(0, Int(count))).contains(group)
    }
}

extension Tree {
    /// Makes a change of the entries of folders that the daemon's user may be forbidden to write.
    func asOwner<Result>(
        of folders: [Node], _ change: () throws(ReplicaError) -> Result
    ) throws(ReplicaError) -> Result {
        guard geteuid() != 0 else { return try change() }
        var lifted: [(folder: Int32, mode: CInterop.Mode)] = []
        defer { for (folder, mode) in lifted { OwnerPermissions.restore(mode, of: folder) } }
        for folder in folders {
            let held = try descriptor(of: folder)
            let mode = try errnos { () throws(Errno) in
                try OwnerPermissions.lift(OwnerPermissions.toChangeEntries, of: held)
            }
            if let mode { lifted.append((held, mode)) }
        }
        return try change()
    }

    /// The folders that a call changes: those of the entries, and one that moves to another folder (its `..` changes).
    func folders(of call: PresentedCall) -> [Node] {
        let folders = call.places.filter { !$0.name.bytes.isEmpty }.compactMap { items[inode: $0.folder] }
        guard case .rename(let name, let from, _, let into) = call, from.number != into.number else { return folders }
        let moved = items[inode: from.number]?.children?[name]
        return folders + (moved.map { $0.kind == .folder ? [$0] : [] } ?? [])
    }
}
