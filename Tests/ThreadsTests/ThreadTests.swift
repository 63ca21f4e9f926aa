import CLinux
import Glibc
import Testing
import Threads

@Suite struct ThreadTests {
    @Test func aThreadIsJoinedWhenItsWorkIsDone() throws {
        let isDone = Locked(false)
        let own = gettid()
        let other = Locked<Int32>(0)
        let thread = try #require(
            Thread {
                usleep(20_000)
                other.withLock { $0 = gettid() }
                isDone.withLock { $0 = true }
            })
        thread.join()
        #expect(isDone.withLock { $0 })
        #expect(other.withLock { $0 } != own)
    }

    @Test func aThreadHasTheNameThatItWasGiven() throws {
        let name = Locked("")
        let thread = try #require(
            Thread(name: "named thread") {
                var bytes = [UInt8](repeating: 0, count: 64)
                let file = open("/proc/thread-self/comm", O_RDONLY)
                let count = read(file, &bytes, bytes.count)
                close(file)
                let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
                name.withLock { $0 = text }
            })
        thread.join()
        #expect(name.withLock { $0 } == "named thread\n")
    }

    @Test func anOpenLatchStaysOpen() throws {
        let latch = Latch()
        #expect(!latch.wait(seconds: 0.01))
        #expect(
            Thread.run {
                usleep(10_000)
                latch.open()
            })
        latch.wait()
        latch.wait()
        #expect(latch.wait(seconds: 0))
    }
}
