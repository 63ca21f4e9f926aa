import Testing

@testable import ReplicaModel

@Suite struct ConflictNamesTests {
    private func free(_ name: String, taken: Set<String> = []) -> String {
        ConflictNames().free(besides: FileName(name)) { taken.contains($0.description) }.description
    }

    @Test func theNumberPrecedesTheExtension() {
        #expect(free("a.txt") == "a 2.txt")
        #expect(free("a") == "a 2")
        #expect(free(".hidden") == ".hidden 2")
        #expect(free("a.tar.gz") == "a.tar 2.gz")
        #expect(free("v1.this is no extension at all") == "v1.this is no extension at all 2")
    }

    @Test func theFirstFreeNumberIsTaken() {
        #expect(free("a.txt", taken: ["a 2.txt", "a 3.txt"]) == "a 4.txt")
    }

    @Test func aLongNameIsCutAtACharacterBoundary() {
        for length in 240...255 {
            let name = String(repeating: "ä", count: length / 2) + ".txt"
            let free = ConflictNames().free(besides: FileName(bytes: Array(name.utf8.prefix(255)))) { _ in false }
            #expect(free.bytes.count <= 255)
            #expect(free.isValid)
        }
        let long = FileName(String(repeating: "ä", count: 125) + ".txt")
        let free = ConflictNames().free(besides: long) { _ in false }
        #expect(String(validating: free.bytes, as: UTF8.self) != nil)
        #expect(free.description.hasSuffix("ä 2.txt"))
    }

    /// 253 bytes are left beside " 2", and a name that ends exactly there is kept completely.
    @Test(arguments: [("ä", 252), ("€", 252), ("😀", 252), ("x", 253)])
    func noMoreThanNecessaryIsCut(character: String, left: Int) {
        let size = character.utf8.count
        let fits = String(repeating: character, count: 253 / size) + String(repeating: "x", count: 253 % size)
        #expect(free(fits) == fits + " 2")
        let long = String(repeating: character, count: 255 / size)
        #expect(free(long).utf8.count == left + 2)
        #expect(free(long) == String(repeating: character, count: left / size) + " 2")
        // A character that ends exactly at the limit is kept.
        let even = "x" + String(repeating: character, count: 252 / size) + "yy"
        #expect(free(even) == "x" + String(repeating: character, count: 252 / size) + " 2")
    }

    @Test func aConflictNameHasHostAndDate() {
        let name = FileName("report.odt")
        func copy(_ taken: Set<String>) -> String {
            ConflictNames().conflict(of: name, host: "desk", day: "2026-11-21") { taken.contains($0.description) }
                .description
        }
        #expect(copy([]) == "report (conflict desk 2026-11-21).odt")
        #expect(copy([copy([])]) == "report (conflict desk 2026-11-21 2).odt")
    }

    @Test(arguments: [(100, 100), (255, 255), (4096, 255), (-5, 80)])
    func namesKeepTheStoresLimit(longest: Int, count: Int) {
        let name = FileName(String(repeating: "x", count: 251) + ".txt")
        let free = ConflictNames(longest: longest).free(besides: name) { _ in false }
        #expect(free.bytes.count == count && free.description.hasSuffix("xx 2.txt"))
        #expect(ConflictNames(longest: longest).free(besides: FileName("a.t")) { _ in false } == FileName("a 2.t"))
    }
}
