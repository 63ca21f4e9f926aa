internal import Glibc
internal import SystemPackage

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
            guard error == .permissionDenied, let mode = try mode(lacking: needed) else { throw error }
            try setMode(mode | needed)
            defer { restore(mode) }
            return try call()
        }
    }

    /// The mode of a file or folder of the daemon's user; nil if it has these permissions, or the user is root.
    fileprivate func mode(lacking needed: mode_t) throws(Errno) -> mode_t? {
        guard geteuid() != 0 else { return nil }
        let status = try status()
        let mode = mode_t(status.permissions)
        return status.user == geteuid() && status.kind != .symlink && mode & needed != needed ? mode : nil
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

    /// The folders whose entries a call changes.
    func folders(of call: PresentedCall) -> [Node] {
        call.places.filter { !$0.name.bytes.isEmpty }.compactMap { items[inode: $0.folder] }
    }
}
