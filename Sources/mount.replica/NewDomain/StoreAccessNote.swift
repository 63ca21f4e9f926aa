import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// Who may access the contents of a directory, considering the modes of all directories on its path.
struct Reach: Equatable {
    /// A directory on the path.
    struct Step: Equatable {
        var group: gid_t
        var mode: mode_t
    }

    /// The group that has access, besides the owner.
    var group: gid_t?
    var others: Bool

    /// - Parameter way: From the root down to the directory itself.
    init(_ way: [Step]) {
        others = way.allSatisfy { $0.mode & 0o001 != 0 }
        guard let last = way.last, last.mode & 0o010 != 0 else { return }
        let isOpen = way.allSatisfy { $0.mode & ($0.group == last.group ? 0o010 : 0o001) != 0 }
        if isOpen { group = last.group }
    }

    /// - Throws: An `Errno`.
    init(to directory: FilePath) throws {
        var way: [Step] = []
        var path = directory
        while true {
            var status = stat()
            guard stat(path.string, &status) == 0 else { throw Errno(rawValue: errno) }
            way.insert(Step(group: status.st_gid, mode: status.st_mode), at: 0)
            if path.components.isEmpty { break }
            path.removeLastComponent()
        }
        self.init(way)
    }

    /// Who may access the other but not this, for a message; nil if there are none.
    func whoElse(comesTo other: Reach) -> String? {
        if other.others { return others ? nil : "everybody" }
        guard let theirs = other.group, theirs != group, !others else { return nil }
        return "group \(getgrgid(theirs).map { String(cString: $0.pointee.gr_name) } ?? String(theirs))"
    }
}

/// An existing store that more users may access than the imported directory. It is not changed, because it
/// may be meant to be shared; the user is told.
enum StoreAccessNote {
    /// The message about a plan before it is carried out; nil if there is none.
    static func note(_ plan: DaemonPlan) -> String? {
        guard case .new(_, let url, _) = plan.selection else { return nil }
        var directory = plan.options.importDirectory
        if case .importDirectory(let path) = plan.task { directory = path }
        do {
            // A missing directory is created with the narrowest mode; one that can't be examined is refused later.
            guard let directory, let store = try StoreFactory.directory(of: url), try !StoreFactory.isMissing(url),
                let who = try Reach(to: DiskPlace(of: directory).seen).whoElse(
                    comesTo: Reach(to: DiskPlace(of: store).seen))
            else { return nil }
            return "note: \(who) may access the store \(store), but not \(directory): imported files can be read"
                + " there as far as their modes allow"
        } catch {
            return nil
        }
    }
}
