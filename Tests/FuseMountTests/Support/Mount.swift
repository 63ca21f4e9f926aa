import Glibc
import SystemPackage

@testable import FuseMount

extension MountOptions {
    static func test(
        fsName: String = "test", readOnly: Bool = false, allowOther: Bool = false, defaultPermissions: Bool = true,
        maxThreads: Int = 32, maxStackDepth: Int = 1, extra: [String] = []
    ) -> MountOptions {
        var options = MountOptions(fsName: fsName, subtype: "fusemounttest")
        options.readOnly = readOnly
        options.allowOther = allowOther
        options.defaultPermissions = defaultPermissions
        options.maxThreads = maxThreads
        options.maxStackDepth = maxStackDepth
        options.extra = extra
        return options
    }
}

/// A filesystem mounted on a new folder, served by threads of this process.
final class Mount: Sendable {
    let session: Session
    let path: String
    private let running: Running<Void>

    init(_ fileSystem: any FileSystem, at path: String, options: MountOptions = .test()) throws {
        let session = try Session(fileSystem, options: options)
        try session.mount(at: path)
        self.session = session
        self.path = path
        running = Running {
            do {
                try session.run()
            } catch {
                fatalError("run: \(error)")
            }
        }
    }

    func file(_ name: String) -> String { path + "/" + name }

    /// Takes the mount away, in use or not, and waits for the session's end.
    func end() {
        do {
            try session.unmount(lazy: true)
        } catch {
            // It was unmounted by the test itself.
        }
        running.wait()
    }

    /// Waits for the session's end after an unmount.
    func wait() { running.wait() }
}

/// A new folder below /var/tmp, gone with all that is in it after `body`.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    var template = Array("/var/tmp/fusemount-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    chmod(path, 0o755)
    defer { _ = shell("rm -rf --one-file-system \(path)") }
    return try await body(path)
}

/// Mounts a filesystem for the length of `body`, which may block.
func withMount(
    _ fileSystem: any FileSystem, options: MountOptions = .test(),
    _ body: @Sendable (Mount) async throws -> Void
) async throws {
    try await onOwnThread {
        try await withFolder { folder in
            let mount = try Mount(fileSystem, at: folder, options: options)
            defer { mount.end() }
            try await body(mount)
        }
    }
}

/// Mounts a mirror of a new folder; `body` gets both paths.
func withMirror(
    features: Features = [.readDirectoryPlus], backing: Bool = false,
    options: MountOptions = .test(),
    _ body: @Sendable (MirrorFileSystem, Mount) async throws -> Void
) async throws {
    try await withFolder { source in
        let mirror = try MirrorFileSystem(source, features: features, usesBacking: backing)
        try await withMount(mirror, options: options) { mount in
            mirror.calls.wait("start")
            try await body(mirror, mount)
        }
    }
}

/// Runs a shell command and gives its exit status.
func shell(_ command: String) -> Int32 {
    var child = pid_t()
    let words = ["/bin/sh", "-c", command]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for word in arguments { free(word) } }
    guard posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ) == 0 else { return -1 }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
        if errno != EINTR { return -1 }
    }
    return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
}
