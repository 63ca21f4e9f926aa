import Foundation
import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

extension Daemon: DaemonControl {
    func mount(at path: FilePath, options: [String]) async throws {
        try mount(at: path, MountOptions(texts: options), isOnlyReason: false)
    }

    func unmount() async throws {
        try unmount(isLazy: false)
        finish()
    }

    func remove(keep: RemovalMode) async throws -> RemovalResult {
        try MountsBelow.refuse(location.state)
        try unmount(isLazy: false)
        let removal = try await domain.remove(keep: RemovalKeep(keep), name: location.name.text)
        Self.removeLinks(to: location.name)
        finish()
        return RemovalResult(preserved: removal.preserved.map(ControlFilePath.init), files: removal.files)
    }

    /// A state next to an imported directory has a link in the domain directory, which is removed with it.
    static func removeLinks(to name: DomainName) {
        for directory in DomainDirectory.searchPath(environment: ProcessInfo.processInfo.environment) {
            let entry = directory.root.appending(name.text)
            var status = stat()
            if lstat(entry.string, &status) == 0, status.st_mode & S_IFMT == S_IFLNK,
                access(entry.string, F_OK) != 0
            {
                unlink(entry.string)
            }
        }
    }
}

extension RemovalKeep {
    init(_ mode: RemovalMode) {
        self =
            switch mode {
            case .dirty: .dirty
            case .downloaded: .downloaded
            case .none: .nothing
            }
    }
}
