package import Glibc
internal import SystemPackage
internal import Threads

/// Permissions that modes deny to the daemon of an ordinary user: a file with mode 0444 has to be filled, and a folder with
/// mode 0555 has to follow the store.
///
/// The daemon owns these items, and gives itself the missing permissions for the duration of the change. Root needs none.
/// Programs gain nothing: the kernel checks the modes that it was told before it sends a request.
extension HeldFile {
    /// Makes one system call that needs these permissions of the owner (`S_IRUSR`, `S_IWUSR`).
    @discardableResult
    func asOwner<Result>(_ needed: mode_t, _ call: () throws(Errno) -> Result) throws(Errno) -> Result {
        do throws(Errno) {
            return try call()
        } catch {
            guard error == .permissionDenied, geteuid() != 0 else { throw error }
            // One at a time: the mode that is restored must not be another's lifted one.
            return try Self.lifting.withLock { (_) throws(Errno) in
                guard let mode = try mode(lacking: needed) else { return try call() }
                try setMode(mode | needed)
                defer { restore(mode) }
                return try call()
            }
        }
    }

    private static let lifting = Locked((), rank: .innermost)

    /// Changes the entries of a folder.
    func asOwnerOfFolder<Result>(_ change: () throws(Errno) -> Result) throws(Errno) -> Result {
        guard let mode = try mode(lacking: S_IWUSR | S_IXUSR) else { return try change() }
        try setMode(mode | S_IWUSR | S_IXUSR)
        defer { restore(mode) }
        return try change()
    }

    /// The mode of a file or folder of the daemon's user; nil if it has these permissions, or the user is root.
    fileprivate func mode(lacking needed: mode_t) throws(Errno) -> mode_t? {
        guard geteuid() != 0 else { return nil }
        let status = try status()
        let mode = mode_t(status.permissions)
        guard status.user == geteuid(), status.kind != .symlink, mode & needed != needed else { return nil }
        return OwnerPermissions.canRestore(mode, group: status.group) ? mode : nil
    }

    fileprivate func restore(_ mode: mode_t) {
        do throws(Errno) {
            try setMode(mode)
        } catch {
            // The disk fails: the next call on the file says so.
        }
    }
}

extension Tree {
    /// Makes a change of the entries of folders that the daemon's user may be forbidden to write.
    func asOwner<Result>(
        of folders: [Node], _ change: () throws(ReplicaError) -> Result
    ) throws(ReplicaError) -> Result {
        guard geteuid() != 0 else { return try change() }
        var lifted: [(folder: HeldFile, mode: mode_t)] = []
        defer { for (folder, mode) in lifted { folder.restore(mode) } }
        for folder in folders {
            let held = HeldFile(descriptor: try descriptor(of: folder))
            try errnos { () throws(Errno) in
                guard let mode = try held.mode(lacking: S_IWUSR | S_IXUSR) else { return }
                try held.setMode(mode | S_IWUSR | S_IXUSR)
                lifted.append((held, mode))
            }
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

/// What an ordinary user can do with the modes of its own files.
package enum OwnerPermissions {
    /// Whether a mode can be set again after it was changed: chmod(2) by a user who is not in the file's group drops its
    /// set-group-ID bit.
    package static func canRestore(_ mode: mode_t, group: gid_t) -> Bool {
        guard mode & S_ISGID != 0, group != getegid() else { return true }
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return groups.prefix(max(0, Int(count))).contains(group)
    }
}
