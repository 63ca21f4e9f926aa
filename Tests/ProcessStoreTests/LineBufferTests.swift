import Testing

@testable import ProcessStore

@Suite struct LineBufferTests {
    private func take(_ buffer: inout LineBuffer, _ text: String) -> [String?] {
        Array(text.utf8).withUnsafeBytes { buffer.take($0) }.map { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test func linesAreAssembledFromAnyPieces() {
        for size in 1...7 {
            var buffer = LineBuffer(limit: 100)
            var found: [String?] = []
            var rest = Array("one\n\ntwo and\nthree\nrest")[...]
            while !rest.isEmpty {
                found += take(&buffer, String(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(found == ["one", "", "two and", "three"])
        }
    }

    @Test func noLineIsLongerThanTheLimit() {
        var buffer = LineBuffer(limit: 4)
        #expect(take(&buffer, "1234\n12345\n1\n") == ["1234", nil])
        buffer = LineBuffer(limit: 4)
        #expect(take(&buffer, "1234") == [])
        #expect(take(&buffer, "5") == [nil])
    }
}
