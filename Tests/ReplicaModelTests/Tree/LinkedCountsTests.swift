import Glibc
import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// Counts of a file whose names are loaded one after the other.
@Suite struct LinkedCountsTests {
    @Test func aWriterIsCountedWhenTheFirstNameIsLoadedLater() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("text", to: "d/f")
        _ = try bench.replica.link(try bench.number("d/f"), as: FileName("other"), in: .root)
        try await bench.settle()
        try bench.restart()
        let number = try bench.number("other")
        func counts() -> [Int32] {
            bench.replica.withTree { tree in tree.items[inode: number].map { [$0.opens, $0.writers] } ?? [] }
        }
        let file = try bench.replica.open(number, flags: O_WRONLY)
        #expect(counts() == [1, 1])
        #expect(try bench.number("d/f") == number)
        #expect(counts() == [1, 1])
        close(file.descriptor)
        bench.replica.closed(number, isWriter: true)
        #expect(counts() == [0, 0])
    }
}
