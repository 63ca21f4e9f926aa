import Glibc
import ReplicaControl
import SystemPackage

/// The mount of a domain at login or at boot: a drop-in of `replica@NAME.service`, and a link that enables it.
struct AutomaticMount {
    let scope: UnitScope
    /// `replica@NAME.service`.
    let unit: String
    private let folder: FilePath
    private let environment: [String: String]

    /// - Throws: `usage` if the name is too long for a unit.
    init(_ scope: UnitScope, domain: String, environment: [String: String]) throws {
        guard let unit = UnitName.service(of: domain) else {
            throw ControlFailure(.usage, "the name \(domain) is too long for a unit of systemd")
        }
        self.scope = scope
        self.unit = unit
        self.environment = environment
        folder = try scope.folder(environment)
    }

    var control: ServiceControl { ServiceControl(scope: scope, environment: environment) }
    private var dropIns: FilePath { folder.appending(unit + ".d") }
    private var dropIn: FilePath { dropIns.appending("mount.conf") }
    private var link: FilePath { folder.appending(scope.target + ".wants").appending(unit) }

    /// Whether it is enabled.
    var isThere: Bool { access(dropIn.string, F_OK) == 0 }

    /// Where it mounts the domain; nil if it is not enabled, or was edited to something else.
    var mountpoint: FilePath? {
        // A unit that can't be read is not this user's.
        guard let bytes = try? FileBytes.readIfPresent(dropIn), let text = String(validating: bytes, as: UTF8.self),
            let place = UnitText.directory(in: text)
        else { return nil }
        return FilePath(platformString: place.map { CChar(bitPattern: $0) } + [0])
    }

    /// Writes and enables it. If that fails, the former state is restored.
    /// - Returns: A closure that undoes it.
    func write(_ text: String) throws -> () -> Void {
        let template = try scope.template(environment)
        for place in [dropIn, link] { try UnitFolder.make(place.removingLastComponent()) }
        let (before, wasEnabled) = (try FileBytes.readIfPresent(dropIn), isLink)
        try UnitFolder.write(text, to: dropIn)
        let takeBack: () -> Void = {
            if let before {
                try? UnitFolder.write(String(decoding: before, as: UTF8.self), to: dropIn)  // As far as possible.
            } else {
                unlink(dropIn.string)
            }
            if !wasEnabled { unlink(link.string) }
            removeEmptyFolders()
        }
        unlink(link.string)
        guard symlink(template.string, link.string) == 0 else {
            let error = Errno(rawValue: errno)
            takeBack()
            throw ControlFailure(.failed, "\(link): \(error)")
        }
        return takeBack
    }

    private var isLink: Bool {
        var status = stat()
        return lstat(link.string, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Disables and removes it. An existing mount stays until the next login or boot.
    /// - Returns: Whether it was enabled.
    func remove() throws -> Bool {
        var found = false
        for file in [link, dropIn] {
            if unlink(file.string) == 0 {
                found = true
            } else if errno != ENOENT, errno != ENOTDIR {
                let error = Errno(rawValue: errno)
                throw ControlFailure(error == .permissionDenied ? .denied : .failed, "\(file): \(error)")
            }
        }
        removeEmptyFolders()
        if found { _ = control.reload() }
        return found
    }

    /// Those that ``write(_:)`` makes, as far as they are empty.
    private func removeEmptyFolders() {
        for place in [dropIns, link.removingLastComponent()] + scope.ownFolders(folder, environment) {
            rmdir(place.string)
        }
    }
}
