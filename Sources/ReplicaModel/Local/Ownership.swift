internal import Glibc
internal import SystemPackage

/// The owner of a new file.
enum Ownership {
    /// Calls `make` to create an entry, and makes the caller its owner. If another file got the name in the meantime,
    /// that file is not changed.
    /// - Throws: ESTALE for another file, and the errors of `make`.
    static func make(
        _ name: FileName, in folder: Int32, for caller: Caller,
        _ make: (UnsafePointer<CChar>) throws(Errno) -> Void
    ) throws(Errno) -> FileStatus {
        let moment = try NewEntryCheck(of: folder)
        try name.withCString(make)
        return try BackingPath(folder: folder, name: name).hold { (file) throws(Errno) in
            let status = try file.status()
            try moment.demandNew(status)
            // An entry that its user owns already is left unchanged.
            guard geteuid() == 0, status.user != caller.user || status.group != caller.group else { return status }
            try file.demandCreated(status)
            return try give(file, in: folder, to: caller)
        }
    }

    /// Gives a file that was just created, and is open, to the caller, as if the caller had created it.
    /// - Returns: Its status afterwards.
    static func give(_ file: HeldFile, in folder: Int32, to caller: Caller) throws(Errno) -> FileStatus {
        let made = try file.status()
        if made.user == caller.user, made.group == caller.group { return made }
        let above = try FileStatus(descriptor: folder)
        let group = above.mode & UInt32(S_ISGID) != 0 ? made.group : caller.group
        guard made.user != caller.user || made.group != group else { return made }
        guard geteuid() == 0 else { return made }
        try file.setOwner(caller.user, group)
        if made.kind != .symlink, made.hasSetID { try file.setMode(made.mode & 0o7777) }
        return try file.status()
    }
}

extension HeldFile {
    /// Checks that this can be the entry that the daemon has just created by its name and now gives to another user: it belongs to the daemon's
    /// user and contains no data. A regular file is never created by its name alone.
    /// - Throws: ESTALE.
    func demandCreated(_ status: FileStatus) throws(Errno) {
        guard status.user == geteuid(), status.kind != .file else { throw .stale }
        if status.kind == .folder, try !BackingFolderListing(of: descriptor, mark: nil).lines.isEmpty { throw .stale }
    }
}
