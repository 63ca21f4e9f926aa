import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// Only our own mark of a dataless file is accepted.
@Suite struct DatalessMarkTests {
    @Test(arguments: [
        ("secret", false, "secret", true), ("secret", false, "", false), ("secret", false, "other", false),
        ("secret", false, "secret2", false), ("", true, "", true), ("", true, "secret", false),
        ("secret", true, "", true), ("secret", true, "other", false),
    ])
    func onlyTheDomainsOwnMarkIsTrusted(value: String, believesEmpty: Bool, said: String, isOurs: Bool) {
        let mark = DatalessMark(value: Array(value.utf8), believesEmpty: believesEmpty)
        #expect(mark.believes(Array(said.utf8)) == isOurs)
    }

    @Test func onlyNewDomainsHaveASecret() throws {
        let (one, other, older) = (try BenchFolder(), try BenchFolder(), try BenchFolder())
        for folder in [one, other] { try folder.state.makeDomain() }
        try older.state.make()
        let marks = try [one, other, older].map { try $0.state.loadMark() }
        #expect(marks[0].value.count == 32 && marks[1].value.count == 32 && marks[0] != marks[1])
        #expect(!marks[0].believesEmpty)
        #expect(marks[2] == DatalessMark())
        // It stays unchanged.
        #expect(try [one, other, older].map { try $0.state.loadMark() } == marks)
    }
}
