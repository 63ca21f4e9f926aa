import Testing
import Threads

@testable import ReplicaModel

/// Progress reports: counts, speeds and an estimate.
@Suite struct ProgressTests {
    private static func report(
        _ items: (Int, Int), _ bytes: (Int64, Int64), _ itemRate: Double, _ byteRate: Double, seconds: Double = 10,
        isCounting: Bool = false
    ) -> TransferReport {
        TransferReport(
            itemsDone: items.0, itemsTotal: items.1, bytesDone: bytes.0, bytesTotal: bytes.1,
            itemsPerSecond: itemRate, bytesPerSecond: byteRate, seconds: seconds, isCounting: isCounting)
    }

    @Test(
        arguments: [
            ("by items", report((10, 30), (0, 0), 2, 0), 10),
            ("by bytes, of one file", report((0, 1), (25, 125), 0, 10), 10),
            ("the slower of both", report((10, 30), (0, 50), 2, 1), 50),
            ("small files are left", report((10, 30), (50, 50), 2, 9), 10),
            ("nothing moved lately", report((10, 30), (0, 50), 0, 0, seconds: 0), nil),
            ("bytes are left and none came", report((10, 30), (0, 50), 2, 0), nil),
            ("too early", report((10, 30), (0, 0), 2, 0, seconds: 2), nil),
            ("while it is counted", report((10, 30), (0, 0), 2, 0, isCounting: true), nil),
            ("days", report((1, 1_000_000), (0, 0), 1, 0), nil),
            ("done", report((30, 30), (50, 50), 2, 9), nil),
            ("more than there was", report((31, 30), (60, 50), 2, 9), nil),
            ("sizes without bounds", report((0, 1), (.min, .max), 0, 1), nil),
        ] as [(String, TransferReport, Double?)])
    func theEstimateFollowsSizeAndSpeed(name: String, report: TransferReport, expected: Double?) {
        #expect(report.secondsLeft == expected, "\(name)")
    }

    @Test func theSpeedCoversTheShownTransfersAndTheLastSeconds() throws {
        let clock = Locked(100.0, rank: .innermost)
        let work = RequestProgress(now: { clock.withLock { $0 } })
        #expect(work.report() == nil)
        work.find(items: 1000, bytes: 10_000)
        #expect(work.report()?.isCounting == true)
        work.endCounting()
        func step(_ items: Int, seconds: Double) throws -> TransferReport {
            for _ in 0..<items { work.finishItem(bytes: 10) }
            clock.withLock { $0 += seconds }
            return try #require(work.report())
        }
        for _ in 0..<20 { _ = try step(10, seconds: 0.5) }
        let steady = try step(10, seconds: 0.5)
        #expect(abs(steady.itemsPerSecond - 20) < 3 && abs(steady.bytesPerSecond - 200) < 30)
        let left = try #require(steady.secondsLeft)
        #expect(abs(left - 40) < 6, "\(left)")
        // A stalled transfer is reported as such.
        for _ in 0..<30 { _ = try step(0, seconds: 0.5) }
        let stalled = try step(0, seconds: 0.5)
        #expect(stalled.itemsPerSecond == 0 && stalled.secondsLeft == nil)
        // A fast period that is long past no longer counts.
        for _ in 0..<24 { _ = try step(1, seconds: 0.5) }
        let slow = try step(1, seconds: 0.5)
        #expect(abs(slow.itemsPerSecond - 2) < 0.5, "\(slow)")
    }

    @Test func partsOfAnItemCountUpToItsSize() throws {
        let done = Locked<Int64>(0)
        let work = RequestProgress()
        work.find(items: 1, bytes: 100)
        let begun = work.begin(bytes: 100) { done.withLock { $0 } }
        for (said, shown) in [(0, 0), (60, 60), (170, 100), (-5, 0)] as [(Int64, Int64)] {
            done.withLock { $0 = said }
            let report = try #require(work.report())
            #expect(report.bytesDone == shown && report.itemsDone == 0 && report.bytesPerSecond >= 0)
        }
        work.finishItem(begun, bytes: 100)
        #expect(work.report()?.bytesDone == 100)
    }

    @Test func partsOfSeveralItemsAddUp() throws {
        let work = RequestProgress()
        work.find(items: 2, bytes: 200)
        let begun = [10, 20].map { part in work.begin(bytes: 100) { part } }
        #expect(work.report()?.bytesDone == 30)
        work.finishItem(begun[0], bytes: 100)
        #expect(work.report()?.bytesDone == 120)
        work.finishItem(begun[1], bytes: 100)
        #expect(work.report()?.bytesDone == 200)
    }

    /// From its first byte to the record of its answer an upload counts once.
    @Test func anUploadCountsOnce() {
        var statistics = TransferStatistics()
        let (item, other) = (ItemNumber(7), ItemNumber(8))
        func shown() -> [Int64] { [Int64(statistics.sentItems), statistics.sentBytes + statistics.uploading()] }
        statistics.beginUpload(item, size: 100)
        statistics.uploaded(40, of: item, now: 1)
        #expect(shown() == [0, 40])
        statistics.uploaded(100, of: item, now: 2)
        #expect(shown() == [0, 100])
        statistics.answer(item, bytes: 100, now: 2)
        #expect(shown() == [1, 100] && statistics.answered == [item: 100])
        statistics.endCall(item, isTakenIn: true)
        #expect(shown() == [1, 100] && statistics.answered.isEmpty && statistics.uploads.isEmpty)
        // Its bytes count for the speed as they go, not all at its end.
        #expect(statistics.sending.rate(now: 3).bytes == 50)
        // An answer that could not be recorded does not count.
        statistics.beginUpload(other, size: 10)
        statistics.answer(other, bytes: 10, now: 3)
        statistics.endCall(other, isTakenIn: false)
        #expect(shown() == [1, 100])
        // A call that failed has sent nothing.
        statistics.beginUpload(other, size: 10)
        statistics.uploaded(5, of: other, now: 3)
        statistics.endCall(other, isTakenIn: false)
        #expect(shown() == [1, 100] && statistics.uploads.isEmpty)
    }
}
