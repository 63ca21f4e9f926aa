import Glibc
import SystemPackage
import Threads

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
    private let keptSwitch: RingSwitch.Use?

    /// - Parameter changesSwitch: Whether it is of a test that changes the machine's switch (``RingSwitch``).
    init(
        _ fileSystem: any FileSystem, at path: String, options: MountOptions = .test(), changesSwitch: Bool = false
    ) throws {
        keptSwitch = changesSwitch ? nil : RingSwitch.Use()
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

    /// Unmounts, even if it is in use, and waits for the session's end.
    ///
    /// By force: a child of another test may have copies of the device and of a file on this mount until it executes
    /// another program, and would wait for ever for the answer to its close.
    func end() {
        umount2(path, Int32(MNT_FORCE))
        do {
            try session.unmount(lazy: true)
        } catch {
            // It is gone: by force, or by the test itself.
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
    _ fileSystem: any FileSystem, options: MountOptions = .test(), changesSwitch: Bool = false,
    _ body: @Sendable (Mount) async throws -> Void
) async throws {
    try await onOwnThread {
        try await withFolder { folder in
            let mount = try Mount(fileSystem, at: folder, options: options, changesSwitch: changesSwitch)
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
///
/// Until it becomes the shell the child has copies of all descriptors. One of a file on a mount is closed by a request to
/// that mount; one of the device keeps a mount waiting whose session has ended meanwhile. So the devices go first.
func shell(_ command: String) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for device in openDevices() { posix_spawn_file_actions_addclose(&actions, device) }
    var child = pid_t()
    let words = ["/bin/sh", "-c", command]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for word in arguments { free(word) } }
    guard posix_spawn(&child, "/bin/sh", &actions, nil, &arguments, environ) == 0 else { return -1 }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
        if errno != EINTR { return -1 }
    }
    return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
}

/// This process's descriptors of /dev/fuse.
private func openDevices() -> [Int32] {
    (names("/proc/self/fd") ?? []).compactMap(Int32.init).filter { device in
        var target = [UInt8](repeating: 0, count: 64)
        let length = readlink("/proc/self/fd/\(device)", &target, target.count)
        return length > 0 && String(decoding: target.prefix(length), as: UTF8.self) == "/dev/fuse"
    }
}
