import Glibc
import SystemPackage
import Testing
import Threads

@testable import FuseMount

/// Replies are answered exactly once, from any thread, and never lost.
@Suite struct ReplyTests {
    @Test func everyErrnoReachesTheCaller() async throws {
        try await withMount(SyntheticFileSystem()) { mount in
            // Later versions of libfuse reject invalid error numbers.
            for number in Int32(1)...133 where !String(cString: strerror(number)).hasPrefix("Unknown") {
                #expect(statError(mount.file("error-\(number)")) == number)
            }
        }
    }

    @Test func droppedReplyIsAnError() async throws {
        try await withMount(SyntheticFileSystem()) { mount in
            #expect(statError(mount.file("dropped")) == EIO)
        }
    }

    @Test func droppedParkedReplyIsAnError() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            let stat = Running { statError(mount.file("parked")) }
            fileSystem.lookups.wait(until: { $0.count == 1 }) { $0 = [] }
            #expect(stat.wait() == EIO)
        }
    }

    @Test func missingOperationIsNotImplemented() async throws {
        try await withMount(SyntheticFileSystem()) { mount in
            #expect(errnoOf(mkdir(mount.file("new"), 0o755)) == ENOSYS)
        }
    }

    @Test func parkedReplyIsAnsweredByTasksAndThreads() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            for byThread in [false, true] {
                let stat = Running { status(mount.file("parked")) }
                let parked = fileSystem.lookups.wait(until: { $0.count == 1 }) { lookups in
                    defer { lookups = [] }
                    return lookups[0]
                }
                let answer: @Sendable () -> Void = {
                    let attributes = Attributes(ino: 77, mode: S_IFREG | 0o600)
                    parked.take()?.send(Entry(node: 77, attributes: attributes, entryTimeout: 0))
                }
                if byThread { Thread(answer)!.detach() } else { Task.detached { answer() } }
                #expect(stat.wait()?.st_ino == 77)
                let isTaken = parked.take() == nil
                #expect(isTaken)
            }
        }
    }

    /// A read of file `0` on a thread of its own that a signal reaches.
    private func interruptedRead(_ mount: Mount, _ fileSystem: SyntheticFileSystem) -> Int32 {
        // The handler makes the signal interrupt instead of kill; it has nothing to do.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGUSR2, &action, nil)
        let reading = Running { () -> Int32 in
            // Threads of Dispatch, and those made by them, block it.
            var set = sigset_t()
            sigemptyset(&set)
            sigaddset(&set, SIGUSR2)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            let file = open(mount.file("0"), O_RDONLY)
            defer { close(file) }
            var byte: UInt8 = 0
            return errnoOf(read(file, &byte, 1))
        }
        let thread = reading.waitForHandle()
        fileSystem.calls.wait("read")
        pthread_kill(thread, SIGUSR2)
        return reading.wait()
    }

    @Test func anInterruptedReadIsNotifiedAndAnswered() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            #expect(interruptedRead(mount, fileSystem) == EINTR)
            fileSystem.calls.wait("interrupt")
            let isInterrupted = fileSystem.reads.wait(until: { $0.count == 1 }) { $0[0].isInterrupted }
            #expect(isInterrupted)
        }
    }

    @Test func anInterruptBeforeParkingIsNotified() async throws {
        let fileSystem = SyntheticFileSystem(parksLate: true)
        try await withMount(fileSystem) { mount in
            #expect(interruptedRead(mount, fileSystem) == EINTR)
            #expect(fileSystem.calls["interrupt"] == 1)
        }
    }

    @Test func parkedReadsDoNotStopOthers() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem, options: .test(maxThreads: 4)) { mount in
            let reads = (0..<64).map { number in Running { contents(mount.file("\(number)")) } }
            fileSystem.reads.wait { $0.count == 64 }
            for number in 100..<200 { #expect(statError(mount.file("\(number)")) == 0) }
            fileSystem.text.withLock { $0 = "" }
            let parked = fileSystem.reads.withLock { $0 }
            for reply in parked { reply.take()?.send([]) }
            for read in reads { #expect(read.wait() == "") }
        }
    }
}
