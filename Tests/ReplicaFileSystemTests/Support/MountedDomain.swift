import Glibc
import Logging
import ReplicaFileSystem
import ReplicaModel
import ReplicaTestSupport
import Testing

/// A domain over a store in memory, mounted for a test.
final class MountedDomain: Sendable {
    let place: TestPlace
    let store: MemoryStore
    let domain: Domain
    let fileSystem: DomainFileSystem
    private let running: RunningMount

    var mount: String { place.mount }
    var tree: String { place.tree }

    init(_ store: MemoryStore, _ options: FileSystemOptions, settings: DomainOptions) throws {
        place = try TestPlace()
        self.store = store
        domain = try Domain.open(
            place.folders, store: store, options: settings, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        domain.start()
        fileSystem = DomainFileSystem(
            replica: domain.replica, source: domain, mountpoint: place.mount, options: options)
        running = try RunningMount(fileSystem, at: place.mount)
    }

    func end() throws {
        try running.end()
        let stopped = Flag()
        Task { [domain] in
            do {
                try await domain.stop()
            } catch {
                Issue.record("the domain stopped with \(error)")
            }
            stopped.raise()
        }
        stopped.wait()
    }
}

/// Mounts a domain of `store` and calls `body` on a thread of its own; fails the test with what `body` found wrong.
func withDomain(
    _ store: MemoryStore, _ options: FileSystemOptions = FileSystemOptions(), enforcing: Bool = false,
    settle: Double = 0.05, trustsSetID: Bool = false, location: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (MountedDomain, Checks) throws -> Void
) async throws {
    let checks = Checks()
    try await onThread {
        var settings = DomainOptions()
        settings.settleSeconds = settle
        // A change comes by its signal, or not at all.
        settings.pullIntervalSeconds = 3_600
        settings.enforcesCapabilities = enforcing
        settings.trustsSetID = trustsSetID
        let mounted = try MountedDomain(store, options, settings: settings)
        let outcome = Result { try body(mounted, checks) }
        try mounted.end()
        try outcome.get()
    }
    for failure in checks.failures { Issue.record("\(failure)", sourceLocation: location) }
}
