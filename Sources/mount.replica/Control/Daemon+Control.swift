import Foundation
import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

extension Daemon: ControlledDaemon {
    func mount(at path: FilePath, options: [String]) async throws {
        let options = try MountOptions(texts: options)
        if options.isRemount { return try remount(at: path, options.domain) }
        try mount(at: path, options, isOnlyReason: false)
    }

    func unmount() async throws {
        try unmount(isLazy: false)
        finish()
    }

    func remove(keep: RemovalMode) async throws -> RemovalResult {
        try MountsBelow.refuse(location.state)
        try unmount(isLazy: false)
        // Whether it succeeds or not, this process stops serving the domain.
        defer { finish() }
        do {
            let removal = try await domain.remove(keep: RemovalKeep(keep), name: location.name.text) { [location] in
                Self.removeLinks(to: location)
            }
            return RemovalResult(preserved: removal.preserved.map(ControlFilePath.init), files: removal.files)
        } catch let error as RemovalNotFinished {
            throw ControlFailure(error, of: location)
        }
    }

    /// A state next to an imported directory has a link in the domain directory, which is removed with it.
    static func removeLinks(to location: DomainLocation) {
        for directory in DomainDirectory.searchPath(environment: ProcessInfo.processInfo.environment) {
            let entry = directory.root.appending(location.name.text)
            var status = stat()
            guard lstat(entry.string, &status) == 0, status.st_mode & S_IFMT == S_IFLNK,
                let found = realpath(entry.string, nil)
            else { continue }
            defer { free(found) }
            if FilePath(platformString: found) == location.state { unlink(entry.string) }
        }
    }
}

extension ControlFailure {
    /// The message of a removal that did not complete.
    init(_ error: RemovalNotFinished, of location: DomainLocation) {
        let cause = error.cause.map { " (\(Self($0).message), in \(location.state))" } ?? ""
        let preserved = error.preserved.map { "; what was preserved so far is in \($0)" } ?? ""
        self.init(
            .failed,
            "the removal of \(location.name) is not finished\(cause): 'replica remove \(location.name)' continues it\(preserved)"
        )
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
