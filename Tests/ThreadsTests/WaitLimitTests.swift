import CLinux
import Glibc
import Testing

@testable import Threads

/// How long the engine waits for its own call at the mount.
@Suite struct WaitLimitTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// When the thread is looked at, and in which sleep it is then.
        var looks: [(Double, UInt64?)]
        /// The look at which it is given up; nil for none.
        var end: Int?
    }

    private static let rows = [
        Row(testDescription: "runs", looks: [(1, nil), (2, nil), (10, nil), (29.9, nil)], end: nil),
        Row(testDescription: "runs for ever", looks: [(29, nil), (30, nil)], end: 1),
        Row(testDescription: "held from the start", looks: [(0.25, 7), (1, 7), (1.75, 7), (2, 7)], end: 3),
        Row(testDescription: "held, looked at rarely", looks: [(1, 7), (5, 7)], end: 1),
        Row(testDescription: "held, looked at late", looks: [(9, 7), (9.5, 7), (10, 7)], end: 2),
        Row(testDescription: "held later", looks: [(1, nil), (2, 7), (2.5, 7), (3, 7)], end: 3),
        Row(testDescription: "one sleep after the other", looks: [(1, 7), (2, 8), (3, 9), (4, 10)], end: nil),
        Row(testDescription: "held, let go, held", looks: [(1, 7), (2.5, nil), (3, 7), (3.5, 7), (4, 7)], end: 4),
        Row(testDescription: "one sleep after the other for ever", looks: [(29.5, 7), (30, 8)], end: 1),
    ]

    @Test(arguments: rows) func onlyABlockedThreadIsAbandoned(_ row: Row) {
        var limit = WaitLimit()
        var end: Int?
        for (index, (time, sleep)) in row.looks.enumerated() where end == nil {
            if limit.isOver(after: time, sleep.map(ThreadSleep.init(count:))) { end = index }
        }
        #expect(end == row.end)
    }

    @Test func theKernelReportsSleepingThreads() {
        func status(_ state: String) -> String {
            "Name:\tx y\nUmask:\t0022\nState:\t\(state)\nTgid:\t1\nvoluntary_ctxt_switches:\t42\n"
                + "nonvoluntary_ctxt_switches:\t7\n"
        }
        #expect(ThreadSleep(status: status("D (disk sleep)")) == ThreadSleep(count: 42))
        #expect(ThreadSleep(status: status("S (sleeping)")) == nil)
        #expect(ThreadSleep(status: status("R (running)")) == nil)
        #expect(ThreadSleep(status: "") == nil)
        #expect(ThreadSleep(thread: gettid()) == nil)
    }

    /// A call that takes longer than usual on a machine with much to do.
    @Test func aSlowThreadIsWaitedFor() {
        let thread = TimedThread()
        let isStarted = thread.start {
            for _ in 0..<30 { usleep(100_000) }
            _ = thread.finish(true)
        }
        #expect(isStarted)
        #expect(thread.wait(givingUp: {}))
    }
}
