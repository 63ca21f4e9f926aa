import FuseMount
import Glibc
import ReplicaFileSystem
import SystemPackage
import Testing

@testable import ReplicaModel

/// A replica of nothing, mounted for a test, with a plain folder beside it on the same disk.
final class MountedReplica: Sendable {
    let base: String
    let replica: Replica
    let fileSystem: DomainFileSystem
    let session: Session
    let source: FakeSource
    private let ended = Flag()

    /// Where it is mounted.
    var mount: String { base + "/mnt" }
    /// The backing tree.
    var tree: String { base + "/state/tree" }
    /// A folder without a mount, for comparison.
    var plain: String { base + "/plain" }

    init(_ options: FileSystemOptions) throws {
        var template = Array("/var/tmp/replica-fs-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        base = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        chmod(base, 0o755)
        for name in ["/state", "/state/tree", "/mnt", "/plain"] { mkdir(base + name, 0o755) }
        chmod(base + "/state", 0o700)
        replica = try Replica.open(
            StateFolders(root: FilePath(base + "/state")), now: { Double(time(nil)) }, wake: {})
        source = FakeSource()
        fileSystem = DomainFileSystem(
            replica: replica, source: source, status: source, mountpoint: base + "/mnt", options: options)
        var mounting = MountOptions(fsName: "replica-test", subtype: "replica")
        mounting.allowOther = true
        mounting.extra = ["dev", "suid"]
        session = try Session(fileSystem, options: mounting)
        try session.mount(at: base + "/mnt")
        startThread { [session, ended] in
            do {
                try session.run()
            } catch {
                Issue.record("the session ended with \(error)")
            }
            ended.raise()
        }
    }

    /// Unmounts and takes away everything.
    func end() throws {
        do throws(Errno) {
            try session.unmount()
        } catch {
            try session.unmount(lazy: true)
        }
        ended.wait()
        try replica.close()
        removeTree(base)
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

/// A condition that comes true once.
final class Flag: @unchecked Sendable {  // The semaphore does all.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func raise() { sem_post(semaphore) }
    func wait() {
        while sem_wait(semaphore) != 0 {}
        sem_post(semaphore)
    }
}

/// Removes a folder with all that is in it.
func removeTree(_ path: String) {
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: 256) { FileName(cString: $0) }
        }
        guard name.bytes != [0x2E], name.bytes != [0x2E, 0x2E] else { continue }
        let isGone = name.withCString { unlinkat(dirfd(folder), $0, 0) } == 0
        if !isGone { removeTree(inside: dirfd(folder), name) }
    }
    closedir(folder)
    rmdir(path)
}

private func removeTree(inside folder: Int32, _ name: FileName) {
    let opened = name.withCString { openat(folder, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) }
    guard opened >= 0 else { return }
    removeTree("/proc/self/fd/\(opened)/.")
    close(opened)
    _ = name.withCString { unlinkat(folder, $0, AT_REMOVEDIR) }
}
