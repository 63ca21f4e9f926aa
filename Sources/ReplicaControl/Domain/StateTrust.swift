import Glibc
package import SystemPackage

/// Why a domain's state is not trusted. Files that other users could have created are neither read nor written.
package struct StateTrustError: Error, Equatable, CustomStringConvertible {
    /// The entry concerned.
    package let path: FilePath
    /// What is wrong with it, and what to do.
    package let reason: String

    package var description: String { "\(path) \(reason)" }
}

/// Checks that a domain's state is private to this user.
package enum StateTrust {
    /// The result of lstat(2) for an entry.
    package struct Entry: Equatable, Sendable {
        var type: mode_t
        var permissions: mode_t
        var user: uid_t

        init(type: mode_t, permissions: mode_t, user: uid_t) {
            (self.type, self.permissions, self.user) = (type, permissions, user)
        }
    }

    /// The requirements on the state or one of its entries.
    enum Part: CaseIterable {
        /// Private, ours.
        case state
        /// Ours, in a private folder.
        case folder, file
        /// The user's own directory, with its original owner and permissions.
        case tree
    }

    /// Checks the state and the entries that a daemon opens. Missing entries are created by the daemon.
    /// - Parameter state: A path without links, except for the part to be checked.
    package static func check(_ state: FilePath) throws(StateTrustError) {
        let parts: [(StateFileName?, Part)] = [
            (nil, .state), (.staging, .folder), (.kept, .folder), (.deleted, .folder), (.tree, .tree),
            (.record, .file), (.database, .file), (.mark, .file), (.lock, .file), (.removal, .file),
        ]
        for (entry, part) in parts {
            let path = entry.map { state.appending($0.rawValue) } ?? state
            var status = stat()
            guard lstat(path.string, &status) == 0 else { continue }
            let found = Entry(
                type: status.st_mode & S_IFMT, permissions: status.st_mode & 0o7777, user: status.st_uid)
            if let reason = refusal(found, as: part, for: geteuid()) {
                throw StateTrustError(path: path, reason: reason)
            }
        }
    }

    /// What is wrong with an entry, and what to do, or nil.
    static func refusal(_ entry: Entry, as part: Part, for user: uid_t) -> String? {
        let wanted = part == .file ? S_IFREG : S_IFDIR
        guard entry.type == wanted else {
            let what = part == .file ? "file" : "directory"
            return "is not a \(what): another user may have created it in place of the domain's own; move it away"
        }
        guard part != .tree else { return nil }
        guard entry.user == user else {
            return "belongs to another user; if the domain is yours, chown it"
        }
        guard part != .state || entry.permissions & 0o077 == 0 else {
            return "is accessible to other users: check its contents, then chmod 700 it"
        }
        return nil
    }
}
