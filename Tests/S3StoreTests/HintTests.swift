import HTTPClient
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import S3Store

/// Replicas of one bucket tell each other where they made changes.
@Suite struct HintTests {
    private static let hinting: TransferLimits = {
        var timing = HintTiming()
        (timing.interval, timing.idleInterval, timing.delay) = (.milliseconds(50), .milliseconds(50), .milliseconds(20))
        var limits = TransferLimits()
        limits.hints = timing
        return limits
    }()

    /// What a replica hears, while `body` runs.
    private func hearing(
        _ scratch: S3Scratch, _ body: (Locked<[StoragePath?]>) async throws -> Void
    ) async throws {
        let storage = try await scratch.server.storage(scratch.bucket, limits: Self.hinting)
        defer { storage.close() }
        let heard = Locked<[StoragePath?]>([])
        let task = Task { for await folder in storage.signals() { heard.withLock { $0.append(folder) } } }
        defer { task.cancel() }
        // The first look is at what was there before: a hint that comes at the same time may be taken for one of before.
        let steps = storage.steps
        #expect(try await eventually { storage.steps > steps + 2 })
        try await body(heard)
    }

    @Test func changesOfOthersAreHeard() async throws {
        try await S3Scratch.run(limits: Self.hinting) { scratch in
            try await scratch.folder("a b")
            try await scratch.folder("ü")
            // They have been told before the other one listens.
            #expect(try await eventually { try await scratch.other.keys().contains { $0.hasPrefix(".replica/hint/") } })
            try await hearing(scratch) { heard in
                try await scratch.write("a b/file", "text")
                #expect(try await eventually { heard.withLock { $0.contains(scratch.path("a b")) } })
                let entry = try #require(try await scratch.entry("a b/file"))
                heard.withLock { $0 = [] }
                _ = try await scratch.storage.move(entry.path, to: scratch.path("ü/moved"), version: entry.version)
                #expect(
                    try await eventually {
                        heard.withLock { Set($0) }.isSuperset(of: [scratch.path("a b"), scratch.path("ü")])
                    })
                heard.withLock { $0 = [] }
                let moved = try #require(try await scratch.entry("ü/moved"))
                try await scratch.storage.remove(moved.path, version: moved.version)
                #expect(try await eventually { heard.withLock { $0 } == [scratch.path("ü")] })
            }
            #expect(try await scratch.list().keys.sorted() == ["a b", "ü"])
        }
    }

    /// Anybody who may write in the bucket can leave anything there; and nobody hears of their own changes.
    @Test func whatIsNoHintIsIgnored() async throws {
        try await S3Scratch.run(limits: Self.hinting) { scratch in
            try await hearing(scratch) { heard in
                for (number, text) in ["", "other", "replica hint 2 x\n1 ", "replica hint 1 x\n1 ../up"].enumerated() {
                    try await scratch.put(".replica/hint/bad-\(number)", text)
                }
                try await scratch.put(".replica/hint/large", String(repeating: "x", count: HintText.longest + 1))
                try await scratch.put(".replica/hint/good", "replica hint 1 x\n1 folder")
                #expect(try await eventually { heard.withLock { $0 } == [scratch.path("folder")] })
            }
        }
    }

    /// Changes that a hint has lost: everything is looked at.
    @Test func aGapIsHeard() async throws {
        try await S3Scratch.run(limits: Self.hinting) { scratch in
            try await hearing(scratch) { heard in
                try await scratch.put(".replica/hint/other", "replica hint 1 x\n1 a")
                #expect(try await eventually { heard.withLock { $0 } == [scratch.path("a")] })
                try await scratch.put(".replica/hint/other", "replica hint 1 x\n3 b")
                #expect(try await eventually { heard.withLock { $0 } == [scratch.path("a"), scratch.path("b"), nil] })
            }
        }
    }

    /// In a bucket with versions, a hint that was replaced is removed.
    @Test func noVersionsOfHintsAreLeft() async throws {
        try await S3Scratch.run(limits: Self.hinting) { scratch in
            var request = S3Request("PUT")
            request.query = [("versioning", "")]
            request.body = .bytes(
                Array("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>".utf8))
            _ = try await scratch.other.connection.send(request)
            for number in 0..<3 {
                try await scratch.write("file-\(number)", "text")
                let name = try #require(scratch.storage.hints).name
                #expect(
                    try await eventually {
                        let text = try await scratch.other.content(at: ".replica/hint/\(name)") ?? []
                        return HintText(text)?.changes.last?.number ?? 0 > number
                    })
            }
            var versions = S3Request("GET")
            versions.query = [("versions", ""), ("prefix", ".replica/hint/")]
            let asked = versions
            #expect(
                try await eventually {
                    let answer = try await scratch.other.connection.send(asked)
                    return String(decoding: answer.body, as: UTF8.self).split(separator: "<VersionId>").count == 2
                })
        }
    }

    // MARK: Decisions

    @Test func textsAreReadAsWritten() throws {
        var text = HintText(run: "1.2")
        text.add([.root, StoragePath([FileName("a b"), FileName("ü%\n")])])
        #expect(HintText(text.bytes) == text)
        for _ in 0..<3 { text.add((0..<50).map { StoragePath([FileName("\($0)")]) }) }
        #expect(text.changes.count == HintText.most && text.changes.last?.number == 152)
        #expect(HintText(text.bytes) == text)
        // The newest fit.
        let long = FileName(String(repeating: "é", count: 127))
        text.add((0..<100).map { StoragePath([long, long, FileName("\($0)")]) })
        let read = try #require(HintText(text.bytes))
        #expect(
            text.bytes.count <= HintText.longest && read.changes.last == text.changes.last && read.changes.count > 30)
    }

    @Test(arguments: [
        "", "replica hint 1", "replica hint 2 x\n1 a", "replica hint 1 x\n", "replica hint 1 x\n0 a",
        "replica hint 1 x\na a",
        "replica hint 1 x\n1 a\n3 b", "replica hint 1 x\n2 a\n1 b", "replica hint 1 x\n1 /a",
        "replica hint 1 x\n1 a//b",
        "replica hint 1 x\n1 ..", "replica hint 1 x\n1 a%2Fb", "replica hint 1 x\n1 %zz", "replica hint 1 x\n-1 a",
        "replica hint 1 x\n18446744073709551615 a\n18446744073709551615 b", "replica hint 1 x\n1",
    ])
    func invalidTextsAreNone(_ text: String) {
        #expect(HintText(Array(text.utf8)) == nil)
    }

    @Test func onlyNewChangesAreHeard() {
        func text(_ run: String, _ numbers: ClosedRange<UInt64>) -> HintText {
            var text = HintText(run: run)
            text.changes = numbers.map { HintText.Change(number: $0, folder: StoragePath([FileName("\($0)")])) }
            return text
        }
        var known = HeardHints()
        func expectRead(_ hints: [String: String], _ wanted: [String], _ line: Int = #line) {
            let found = known.look(at: hints)
            #expect(found == wanted, "line \(line)")
        }
        func expectHeard(_ text: HintText, _ wanted: [String], _ line: Int = #line) {
            let found = known.hear(text, of: "other").map(\.description)
            #expect(found == wanted, "line \(line)")
        }
        func expectEverywhere(_ wanted: Bool, now: Double, _ line: Int = #line) {
            let found = known.takesEverywhere(now: now)
            #expect(found == wanted, "line \(line)")
        }
        // What was there at the first look is not read.
        expectRead(["other": "1"], [])
        expectRead(["other": "1"], [])
        expectRead(["other": "2", "new": "1"], ["new", "other"])
        expectHeard(text("x", 4...5), ["4", "5"])
        expectHeard(text("x", 4...6), ["6"])
        expectEverywhere(false, now: 0)
        expectHeard(text("x", 8...9), ["8", "9"])
        expectEverywhere(true, now: 0)
        expectEverywhere(false, now: 100)
        // Another run begins anew; that of a replica whose state was set back, too.
        expectHeard(text("y", 1...2), ["1", "2"])
        expectHeard(text("y", 9...9), ["9"])
        expectEverywhere(false, now: 30)
        expectEverywhere(true, now: 60)
        // One that could not be read is read at the next look.
        expectRead(["other": "3"], ["other"])
        known.miss("other")
        expectRead(["other": "3"], ["other"])
        let many = known.look(at: Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("\($0)", "1") }))
        #expect(many.count == HeardHints.mostReplicas)
    }
}
