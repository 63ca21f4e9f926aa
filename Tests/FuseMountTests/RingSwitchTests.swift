import Glibc
import Testing

@testable import FuseMount

/// The machine's switch for requests over io_uring, changed while a mount comes up: it is the administrator's, and a mount
/// must not depend on when they turn it. Only root may, and kernels before 6.14 have none; the tests are nothing then.
@Suite(.serialized) struct RingSwitchTests {
    private static let path = "/sys/module/fuse/parameters/enable_uring"

    /// Runs `body` where the switch can be set, and puts it back.
    private func withSwitch(_ body: () async throws -> Void) async throws {
        guard let before = contents(Self.path), access(Self.path, W_OK) == 0, geteuid() == 0 else { return }
        defer { Self.set(before) }
        try await body()
    }

    private static func set(_ value: String) {
        _ = write(value, to: path)
    }

    /// Turned between the kernel's offer and our answer.
    @Test(arguments: [("Y", "N"), ("N", "Y")])
    func itIsTurnedInTheMiddleOfInit(before: String, after: String) async throws {
        try await withSwitch {
            Self.set(before)
            let fileSystem = SyntheticFileSystem(onStart: { Self.set(after) })
            try await withMount(fileSystem) { mount in
                #expect(isAnswered(mount))
            }
        }
    }

    /// Turned at any time.
    @Test func itIsTurnedAgainAndAgain() async throws {
        try await withSwitch {
            let stopping = Gate(false)
            let turner = Running {
                var isOn = false
                while !stopping.withLock({ $0 }) {
                    isOn.toggle()
                    Self.set(isOn ? "Y" : "N")
                    usleep(useconds_t.random(in: 0..<400))
                }
            }
            defer {
                stopping.withLock { $0 = true }
                turner.wait()
            }
            for _ in 0..<40 {
                try await withMount(SyntheticFileSystem()) { mount in
                    try #require(isAnswered(mount))
                }
            }
        }
    }

    /// Whether the mount's first request is answered: by a process that can be given up.
    private func isAnswered(_ mount: Mount) -> Bool {
        shell("timeout -s KILL 20 stat -L \(mount.file("1")) >/dev/null 2>&1") == 0
    }
}
