import Glibc
package import SystemPackage

/// A state is opened by its path, again and again. Whoever may rename in a folder above it can put another state in its
/// place, whose store and log file a daemon of root's would follow.
extension StateTrust {
    /// A folder above the state.
    struct Above: Equatable {
        var permissions: mode_t
        var user: uid_t
        var group: gid_t
    }

    /// Checks the folders above a state.
    /// - Parameter state: A path without links. It and the folders above it may be missing.
    /// - Throws: ``StateTrustError`` with the first folder in which others may rename.
    package static func checkAbove(_ state: FilePath) throws(StateTrustError) {
        var folder = state
        while folder.removeLastComponent() {
            var status = stat()
            guard lstat(folder.string, &status) == 0 else { continue }
            let above = Above(permissions: status.st_mode & 0o7777, user: status.st_uid, group: status.st_gid)
            if isUnmapped(status.st_uid) { continue }
            if let reason = refusal(above: above, for: geteuid(), groups: ownGroups) {
                throw StateTrustError(path: folder, reason: reason)
            }
        }
    }

    /// Who may rename in a folder above the state, and what to do, or nil.
    /// - Parameter groups: The user's own groups, asked for only where that decides.
    static func refusal(above folder: Above, for user: uid_t, groups: @autoclosure () -> [gid_t]) -> String? {
        let remedy = "who can replace the domain's state: use a place (state=DIR) whose folders are all yours or root's"
        guard folder.user == 0 || folder.user == user else { return "belongs to another user, \(remedy)" }
        guard folder.permissions & mode_t(S_ISVTX) == 0 else { return nil }
        // A user's own group has no other members (umask 002).
        let isOthers =
            folder.permissions & 0o002 != 0 || folder.permissions & 0o020 != 0 && !groups().contains(folder.group)
        return isOthers ? "can be changed by others, \(remedy)" : nil
    }

    /// The group of this process, and the one that the user's files have otherwise: newgrp(1) changes the first.
    private static var ownGroups: [gid_t] {
        [getegid()] + (getpwuid(geteuid()).map { [$0.pointee.pw_gid] } ?? [])
    }

    /// Whether the owner is somebody outside of this user namespace, such as root in a sandbox.
    private static func isUnmapped(_ user: uid_t) -> Bool {
        guard user == overflowUser else { return false }
        let map = try? FileBytes.readIfPresent("/proc/self/uid_map")  // Without user namespaces there is none.
        let fields = String(decoding: map ?? [], as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return !fields.isEmpty && fields != ["0", "0", "4294967295"]
    }

    /// The owner that stat(2) shows for such users (user_namespaces(7)).
    private static let overflowUser: uid_t = 65534
}
