import Glibc
import ReplicaControl
import SystemPackage

/// Whose systemd starts a unit.
enum UnitScope: Equatable {
    /// The user's, at login.
    case user
    /// The machine's, at boot.
    case system

    /// The moment, in words.
    var moment: String { self == .user ? "at login" : "at boot" }
    /// The option that mounts a domain then.
    var option: String { self == .user ? "--at-login" : "--at-boot" }
    /// systemctl(1)'s option.
    var word: String { self == .user ? "--user" : "--system" }
    /// The target that wants the unit.
    var target: String { self == .user ? "default.target" : "multi-user.target" }

    /// The folder of a user's own units, or of the administrator's (systemd.unit(5)).
    /// - Throws: `unsupported` without a home directory.
    func folder(_ environment: [String: String]) throws -> FilePath {
        guard self == .user else { return "/etc/systemd/system" }
        if let place = environment["XDG_CONFIG_HOME"], place.hasPrefix("/") {
            return FilePath(place).appending("systemd/user")
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw ControlFailure(.unsupported, "HOME is not set, so there is no place for units of this user")
        }
        return FilePath(home).appending(".config/systemd/user")
    }

    /// Those of a user's folder of units, and of the folders that it is in, that may have been made for it; the innermost first.
    func ownFolders(_ folder: FilePath, _ environment: [String: String]) -> [FilePath] {
        guard self == .user else { return [] }
        let above = folder.removingLastComponent()
        let isBelowHome = environment["HOME"].map { folder == FilePath($0).appending(".config/systemd/user") } ?? false
        return [folder, above] + (isBelowHome ? [above.removingLastComponent()] : [])
    }

    /// `replica@.service`, where systemd finds it.
    /// - Throws: `unsupported` if it does not.
    func template(_ environment: [String: String]) throws -> FilePath {
        let places = try [folder(environment)] + installed(environment)
        for place in places {
            let file = place.appending("replica@.service")
            if access(file.string, R_OK) == 0 { return file }
        }
        throw ControlFailure(
            .unsupported,
            "there is no replica@.service where systemd looks for it; the package and scripts/install bring it")
    }

    private func installed(_ environment: [String: String]) -> [FilePath] {
        guard self == .user else {
            return [
                FilePath(SystemPath.systemd), "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
                "/lib/systemd/system",
            ]
        }
        let home = environment["HOME"].map { [FilePath($0).appending(".local/share/systemd/user")] } ?? []
        let shared: [FilePath] = [
            "/etc/systemd/user", "/usr/local/share/systemd/user", "/usr/share/systemd/user",
            "/usr/local/lib/systemd/user", "/usr/lib/systemd/user",
        ]
        return home + shared
    }

    /// Whether systemd runs this machine, like sd_booted(3).
    var isBooted: Bool {
        var status = stat()
        return lstat(SystemPath.systemd, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// - Throws: The reason why it is impossible: no systemd, or the wrong user.
    func check() throws(ControlFailure) {
        if self == .user, geteuid() == 0 {
            throw ControlFailure(.usage, "root's domains are mounted with the machine: use --at-boot")
        }
        if self == .system, geteuid() != 0 {
            throw ControlFailure(.denied, "only root can have a domain mounted at boot; --at-login is for your own")
        }
        guard isBooted else {
            throw ControlFailure(
                .unsupported,
                "this machine was not booted by systemd, which would mount it \(moment); nothing was changed")
        }
    }
}
