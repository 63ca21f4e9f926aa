import Testing

@testable import ReplicaModel

/// The meaning of interim names, for their own domain only.
@Suite struct InterimNameMeaningTests {
    private let names = InterimName(mark: Array("abcdefghijklmnopqrstuvwxyzabcdef".utf8))

    @Test(arguments: ["a", "a.txt", "-", "7-b", ".hidden", "\u{e4}\u{2713}", "name with spaces"], [0, 3])
    func anInterimNameContainsItsItem(name: String, attempt: Int) {
        let interim = names.of(ItemNumber(12), FileName(name), attempt: attempt, ConflictNames())
        #expect(interim.isValid)
        #expect(names.meaning(of: interim) == FileName(name))
        #expect(names.isInterim(interim))
        // The names of another item, another attempt and another domain differ.
        #expect(interim != names.of(ItemNumber(1), FileName(name), attempt: attempt, ConflictNames()))
        #expect(interim != names.of(ItemNumber(12), FileName(name), attempt: attempt + 1, ConflictNames()))
        #expect(InterimName(mark: []).meaning(of: interim) == nil)
    }

    @Test func aLongNameIsCut() {
        let name = FileName(String(repeating: "\u{e4}", count: 120) + ".txt")
        let interim = names.of(ItemNumber(.max), name, attempt: 9, ConflictNames(longest: 100))
        #expect(interim.bytes.count <= 100)
        #expect(names.meaning(of: interim)?.description.hasSuffix("\u{e4}.txt") == true)
    }

    @Test func otherNamesAreNotInterimNames() {
        let interim = names.of(ItemNumber(12), FileName("a"), attempt: 0, ConflictNames()).description
        let beginning = String(interim.dropLast("12-a".count))
        for end in ["", "12", "12-", "-a", "x-a"] {
            #expect(names.meaning(of: FileName(beginning + end)) == nil, "\(end)")
        }
        for name in ["a", "", ".replica-moving-3"] { #expect(names.meaning(of: FileName(name)) == nil, "\(name)") }
        for bad in ["..", ".", "a/b", "a\0b"] { #expect(names.meaning(of: FileName(beginning + "12-" + bad)) == nil) }
    }
}
