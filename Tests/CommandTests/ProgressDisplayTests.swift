import ReplicaControl
import Testing

@testable import replica

/// The output of progress: a table of states, widths and destinations.
@Suite struct ProgressDisplayTests {
    private static func progress(
        _ items: (Int, Int), _ bytes: (Int64, Int64) = (0, 0), itemRate: Double = 0, byteRate: Double = 0,
        left: Double? = nil, counting: Bool? = nil
    ) -> TransferProgress {
        TransferProgress(
            itemsDone: items.0, itemsTotal: items.1, bytesDone: bytes.0, bytesTotal: bytes.1,
            bytesPerSecond: byteRate, itemsPerSecond: itemRate, secondsLeft: left, counting: counting)
    }

    private static let whole = progress(
        (12, 300), (1 << 20, 2 << 30), itemRate: 4, byteRate: 3_145_728, left: 660)

    @Test(
        arguments: [
            (progress((0, 0)), 80, "0 of 0 items"), (progress((0, 1)), 80, "0 of 1 item"),
            (whole, 80, "12 of 300 items, 1.0 MiB of 2.0 GiB, 4 items/s, 3.0 MiB/s, 11 min left"),
            // As much as fits, with the last column free; never a second line.
            (whole, 68, "12 of 300 items, 1.0 MiB of 2.0 GiB, 4 items/s, 3.0 MiB/s"),
            (whole, 58, "12 of 300 items, 1.0 MiB of 2.0 GiB, 4 items/s, 3.0 MiB/s"),
            (whole, 57, "12 of 300 items, 1.0 MiB of 2.0 GiB, 4 items/s"),
            (whole, 20, "12 of 300 items"), (whole, 16, "12 of 300 items"), (whole, 15, "12 of 300 item"),
            (whole, 4, "12 "), (whole, 1, ""), (whole, 0, ""),
            // The speed has the unit of the shown count.
            (progress((3, 9), itemRate: 2, byteRate: 1000), 80, "3 of 9 items, 2 items/s"),
            (progress((0, 1), (10, 20), byteRate: 5), 80, "0 of 1 item, 10 B of 20 B, 5 B/s"),
            (progress((3, 9), (20, 20), itemRate: 2, byteRate: 5), 80, "3 of 9 items, 20 B of 20 B, 2 items/s"),
            (progress((3, 9), itemRate: 0.4), 80, "3 of 9 items, 0.4 items/s"),
            (progress((3, 9), itemRate: 0.01), 80, "3 of 9 items"),
            (progress((3, 9), itemRate: 1234.5), 80, "3 of 9 items, 1234 items/s"),
            // A total that is not final is not shown.
            (progress((1, 1200), (0, 3 << 30), itemRate: 9, counting: true), 80, "1200 items found, 3.0 GiB"),
            (progress((0, 1), counting: true), 80, "1 item found"),
            // Impossible values don't crash the program.
            (
                progress((.max, .min), (.min, .max), itemRate: .infinity, byteRate: 1e300, left: 1e300), 200,
                "9223372036854775807 of -9223372036854775808 items, -9223372036854775808 B of 8192.0 PiB, inf items/s, "
                    + "8192.0 PiB/s, 9223372036854775807 h left"
            ),
        ] as [(TransferProgress, Int, String)])
    func aTerminalHasOneLine(progress: TransferProgress, columns: Int, text: String) {
        var display = ProgressDisplay(isTerminal: true)
        #expect(display.show(progress, columns: columns, now: 0) == "\r" + text)
    }

    @Test func theReasonForWaitingReplacesRates() {
        var progress = Self.progress((0, 1), (0, 2), byteRate: 5, left: 9)
        progress.reason = "offline: the store\u{1B}[2J can't be reached"
        var display = ProgressDisplay(isTerminal: true)
        #expect(
            display.show(progress, columns: 80, now: 0)
                == "\r0 of 1 item, offline: the store?[2J can't be reached")
    }

    @Test func eachLineOverwritesTheLast() {
        var display = ProgressDisplay(isTerminal: true)
        #expect(display.show(Self.progress((99, 1000)), columns: 80, now: 0) == "\r99 of 1000 items")
        #expect(display.show(Self.progress((9, 10)), columns: 80, now: 0) == "\r9 of 10 items   ")
        #expect(display.show(Self.progress((10, 10)), columns: 80, now: 0) == "\r10 of 10 items")
        // A terminal that became narrower: the erased text does not wrap either.
        #expect(display.show(Self.progress((1, 1)), columns: 12, now: 0) == "\r1 of 1 item")
        #expect(display.end(keepsLine: false) == "\r           \r")
        #expect(display.end(keepsLine: false) == "" && display.end(keepsLine: true) == "")
        _ = display.show(Self.progress((1, 2)), columns: 80, now: 0)
        #expect(display.end(keepsLine: true) == "\n")
    }

    @Test func withoutATerminalLinesArePrintedRarely() {
        var display = ProgressDisplay(isTerminal: false)
        var lines: [Int: String] = [:]
        for second in 0...2000 {
            let text = display.show(Self.progress((second, 2000)), columns: 10, now: Double(second))
            if !text.isEmpty { lines[second] = text }
        }
        #expect(lines.keys.sorted() == [10, 30, 70, 150, 310, 610, 910, 1210, 1510, 1810])
        // Complete lines, regardless of any terminal's width.
        #expect(lines[310] == "310 of 2000 items\n")
        #expect(display.end(keepsLine: false) == "" && display.end(keepsLine: true) == "")
        // New work starts from zero.
        #expect(display.show(Self.progress((1, 2)), columns: 80, now: 3000) == "")
    }
}
