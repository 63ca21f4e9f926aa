import Glibc
import Testing
import Threads

@testable import FuseMount

/// The machine's switch for FUSE over io_uring, changed during a mount: the administrator may change it at any time. Only root can, and kernels
/// before 6.14 have none.
@Suite(.serialized, .enabled(if: access(RingSwitch.path, W_OK) == 0))
struct RingSwitchTests {
    /// Changed between the kernel's offer and our answer.
    @Test(arguments: [("Y", "N"), ("N", "Y")])
    func theSwitchMayChangeBeforeTheAnswerToInit(before: String, after: String) async throws {
        try await RingSwitch.change {
            RingSwitch.set(before)
            let fileSystem = SyntheticFileSystem(onStart: { RingSwitch.set(after) })
            try await withMount(fileSystem, changesSwitch: true) { mount in
                #expect(isAnswered(mount))
                // Changed once more, while the mount is used.
                RingSwitch.set(before)
                #expect(isAnswered(mount))
            }
        }
    }

    @Test func theSwitchMayChangeAtAnyTime() async throws {
        try await RingSwitch.change {
            let isStopping = Gate(false)
            let changes = Running {
                var isOn = false
                while !isStopping.withLock({ $0 }) {
                    isOn.toggle()
                    RingSwitch.set(isOn ? "Y" : "N")
                    usleep(useconds_t.random(in: 0..<400))
                }
            }
            defer {
                isStopping.withLock { $0 = true }
                changes.wait()
            }
            for _ in 0..<40 {
                try await withMount(SyntheticFileSystem(), changesSwitch: true) { mount in
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
