import Glibc
import Testing
import Threads

@testable import FuseMount

/// The machine's switch for FUSE over io_uring, changed during a mount: the administrator may change it at any time. Only root can, and kernels
/// before 6.14 have none.
@Suite(.serialized, .enabled(if: access("/sys/module/fuse/parameters/enable_uring", W_OK) == 0))
struct RingSwitchTests {
    private static let path = "/sys/module/fuse/parameters/enable_uring"

    /// Restores the switch after `body`.
    private func restoringSwitch(_ body: () async throws -> Void) async throws {
        let before = try #require(contents(Self.path))
        defer { Self.set(before) }
        try await body()
    }

    private static func set(_ value: String) {
        _ = write(value, to: path, flags: O_WRONLY)
    }

    /// Changed between the kernel's offer and our answer.
    @Test(arguments: [("Y", "N"), ("N", "Y")])
    func itChangesBeforeTheAnswerToInit(before: String, after: String) async throws {
        try await restoringSwitch {
            Self.set(before)
            let fileSystem = SyntheticFileSystem(onStart: { Self.set(after) })
            try await withMount(fileSystem) { mount in
                #expect(isAnswered(mount))
                // Changed once more, while the mount is used.
                Self.set(before)
                #expect(isAnswered(mount))
            }
        }
    }

    @Test func itChangesAtAnyTime() async throws {
        try await restoringSwitch {
            let isStopping = Gate(false)
            let changes = Running {
                var isOn = false
                while !isStopping.withLock({ $0 }) {
                    isOn.toggle()
                    Self.set(isOn ? "Y" : "N")
                    usleep(useconds_t.random(in: 0..<400))
                }
            }
            defer {
                isStopping.withLock { $0 = true }
                changes.wait()
            }
            for _ in 0..<40 {
                try await withMount(SyntheticFileSystem()) { mount in
                    try #require(isAnswered(mount))
                }
            }
        }
    }

    /// Whether a request is answered. A process of its own asks, which can be killed.
    private func isAnswered(_ mount: Mount) -> Bool {
        shell("timeout -s KILL 60 stat -L \(mount.file("1")) >/dev/null 2>&1") == 0
    }
}
