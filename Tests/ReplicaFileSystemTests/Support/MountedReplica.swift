import Glibc
import ReplicaFileSystem
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// A replica of nothing, mounted for a test, with a plain folder beside it on the same disk.
final class MountedReplica: Sendable {
    let place: TestPlace
    let replica: Replica
    let fileSystem: DomainFileSystem
    let source = FakeSource()
    private let running: RunningMount

    var mount: String { place.mount }
    var tree: String { place.tree }
    var plain: String { place.plain }

    init(_ options: FileSystemOptions) throws {
        place = try TestPlace()
        replica = try Replica.open(place.folders, wake: {})
        fileSystem = DomainFileSystem(
            replica: replica, source: source, status: source, mountpoint: place.mount, options: options)
        running = try RunningMount(fileSystem, at: place.mount)
    }

    /// Unmounts and ends it.
    func end() throws {
        try running.end()
        try replica.close()
    }
}

/// Mounts a replica and calls `body` on a thread of its own; fails the test with what `body` found wrong.
func withMount(
    _ options: FileSystemOptions = FileSystemOptions(), location: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (MountedReplica, Checks) throws -> Void
) async throws {
    let checks = Checks()
    try await onThread {
        let mounted = try MountedReplica(options)
        let outcome = Result { try body(mounted, checks) }
        try mounted.end()
        try outcome.get()
    }
    for failure in checks.failures { Issue.record("\(failure)", sourceLocation: location) }
}
