import Testing

@testable import ReplicaModel

@Suite struct RangeSetTests {
    /// All pairs of ranges within ten bytes, against a set of numbers.
    @Test func insertIsTheUnionOfBytes() {
        let ranges = (Int64(0)..<9).flatMap { start in (start..<9).map { start..<$0 } }
        for first in ranges {
            for second in ranges {
                let set = RangeSet64([first, second])
                let bytes = Set(first).union(second)
                #expect(Set(set.ranges.flatMap { Array($0) }) == bytes)
                #expect(set.count == Int64(bytes.count))
                #expect(zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
                #expect(set.ranges.allSatisfy { !$0.isEmpty })
                #expect(Set(set.missing(in: 1..<8).flatMap { Array($0) }) == Set(1..<8).subtracting(bytes))
                var cut = set
                cut.truncate(to: 4)
                #expect(Set(cut.ranges.flatMap { Array($0) }) == bytes.filter { $0 < 4 })
            }
        }
    }

    @Test func anEmptyRangeIsNeverMissing() {
        #expect(RangeSet64().missing(in: 5..<5).isEmpty)
        #expect(RangeSet64().isEmpty)
        #expect(RangeSet64([0..<10]).missing(in: 3..<7).isEmpty)
    }
}
