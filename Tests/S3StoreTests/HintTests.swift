import Foundation
import HTTPClient
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import S3Store

/// Replicas of one bucket tell each other where they made changes.
@Suite struct HintTests {
    private static let object = ".replica/changes"

    private static func limits(_ change: (inout HintTiming) -> Void = { _ in }) -> TransferLimits {
        var timing = HintTiming()
        (timing.interval, timing.idleInterval) = (.milliseconds(50), .milliseconds(50))
        (timing.delay, timing.spacing) = (.milliseconds(20), .milliseconds(50))
        (timing.life, timing.abandonment) = (.seconds(3_600), .seconds(3_600))
        change(&timing)
        var limits = TransferLimits()
        limits.hints = timing
        return limits
    }

    /// What another replica hears, while `body` runs.
    private func hearing(
        _ scratch: S3Scratch, _ limits: TransferLimits = Self.limits(),
        _ body: (Locked<[StoragePath?]>) async throws -> Void
    ) async throws {
        let storage = try await scratch.server.storage(scratch.bucket, limits: limits)
        defer { storage.close() }
        let heard = Locked<[StoragePath?]>([])
        let task = Task { for await folder in storage.signals() { heard.withLock { $0.append(folder) } } }
        defer { task.cancel() }
        try await body(heard)
    }

    private func text(_ lines: String...) -> String { ([HintText.title] + lines).joined(separator: "\n") }

    // MARK: In a bucket

    /// With an interval of an hour between listings.
    @Test func aSaveIsSeenByAnotherReplicaAtOnce() async throws {
        try await S3Scratch.run(limits: Self.limits()) { scratch in
            try await scratch.folder("folder")
            let temporary = try TemporaryFolder(in: "/dev/shm")
            let storage = try await scratch.server.storage(scratch.bucket, limits: Self.limits())
            defer { storage.close() }
            var options = PathStoreOptions()
            (options.openIntervalSeconds, options.wholeIntervalSeconds) = (3_600, 3_600)
            let store = try PathStore(storage, folder: temporary.path.string, options: options)
            let anchor = try await store.currentAnchor()
            let root = try await store.enumerateItems(in: .root, from: nil).items
            let folder = try #require(root.first { $0.filename == FileName("folder") })
            _ = try await store.enumerateItems(in: folder.identifier, from: nil)
            let signals = store.signals()
            // What was before is heard once.
            for await _ in signals { break }
            try await scratch.write("folder/file", "text")
            for await _ in signals {
                let batch = try await store.enumerateChanges(from: anchor)
                if batch.updated.contains(where: { $0.filename == FileName("file") }) { break }
            }
            try store.close()
        }
    }

    @Test func changesOfOthersAreHeard() async throws {
        try await S3Scratch.run(limits: Self.limits()) { scratch in
            try await scratch.folder("a b")
            try await scratch.folder("ü")
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

    /// Two replicas that write at the same time don't remove each other's changes, and hear only those of the other.
    @Test func replicasShareOneObject() async throws {
        try await S3Scratch.run(limits: Self.limits()) { scratch in
            let other = try await scratch.server.storage(scratch.bucket, limits: Self.limits())
            defer { other.close() }
            for name in ["a", "b"] { try await scratch.folder(name) }
            try await hearing(scratch) { heard in
                let own = Locked<[StoragePath?]>([])
                let task = Task {
                    for await folder in scratch.storage.signals() { own.withLock { $0.append(folder) } }
                }
                defer { task.cancel() }
                for number in 0..<5 {
                    async let first = scratch.write("a/\(number)", "text")
                    _ = try await other.make(
                        scratch.path("b/\(number)"), kind: .folder, attributes: PathAttributes())
                    _ = try await first
                    let wanted: Set<StoragePath?> = [scratch.path("a"), scratch.path("b")]
                    #expect(try await eventually { heard.withLock { Set($0) }.isSuperset(of: wanted) })
                    heard.withLock { $0 = [] }
                }
                #expect(try await eventually { own.withLock { $0.contains(scratch.path("b")) } })
                #expect(!own.withLock { $0.contains(scratch.path("a")) })
            }
        }
    }

    /// Anybody who may write in the bucket can leave anything there.
    @Test func whatIsNoHintIsIgnored() async throws {
        try await S3Scratch.run { scratch in
            try await hearing(scratch) { heard in
                for (number, text) in [
                    "", "other", "replica changes 2\n1 1 /", text("1 1 /../up"), text("1 1 /a", ""),
                    String(repeating: "x", count: HintText.longest + 1),
                    text("1 1 /\(String(repeating: "x", count: HintText.longest))"),
                ].enumerated() {
                    try await scratch.put(Self.object, text)
                    try await Task.sleep(for: .milliseconds(100))
                    let folder = "/folder-\(number)"
                    try await scratch.put(Self.object, self.text("\(number) 1 \(folder)"))
                    #expect(
                        try await eventually { heard.withLock { $0.last } == scratch.path(String(folder.dropFirst())) })
                    #expect(heard.withLock { $0.count } == number + 1)
                }
            }
            // Nor is what hints tell of there.
            #expect(try await scratch.list().isEmpty)
        }
    }

    /// Something else under its name is replaced, and nothing fails.
    @Test func aStrangeObjectIsReplaced() async throws {
        try await S3Scratch.run(limits: Self.limits()) { scratch in
            try await scratch.put(Self.object, String(repeating: "x", count: HintText.longest + 1))
            try await scratch.write("file", "text")
            #expect(
                try await eventually {
                    let bytes = try await scratch.other.content(at: Self.object) ?? []
                    return HintText(bytes)?.changes.map(\.folder) == [.root]
                })
        }
    }

    /// Changes that a hint has lost: everything is looked at.
    @Test func aGapIsHeard() async throws {
        try await S3Scratch.run { scratch in
            try await hearing(scratch) { heard in
                try await scratch.put(Self.object, text("1 1 /a"))
                #expect(try await eventually { heard.withLock { $0 } == [scratch.path("a")] })
                try await scratch.put(Self.object, text("1 3 /b"))
                #expect(try await eventually { heard.withLock { $0 } == [scratch.path("a"), scratch.path("b"), nil] })
            }
        }
    }

    // MARK: What is left

    @Test func hintsAreRemovedWhenTheyAreOld() async throws {
        try await S3Scratch.run(limits: Self.limits { $0.life = .milliseconds(500) }) { scratch in
            try await scratch.write("file", "text")
            try await scratch.waitForHint()
            #expect(try await eventually { try await scratch.other.keys() == ["file"] })
        }
    }

    /// The replica that wrote it has died.
    @Test func othersRemoveAnAbandonedHint() async throws {
        try await S3Scratch.run { scratch in
            try await scratch.put(Self.object, text("1 1 /a"))
            try await hearing(scratch, Self.limits { $0.abandonment = .milliseconds(200) }) { heard in
                let isGone = try await eventually { try await scratch.other.keys().isEmpty }
                #expect(isGone)
                #expect(heard.withLock { $0 } == [scratch.path("a")])
            }
        }
    }

    /// Also of a change right before.
    @Test(arguments: [true, false]) func anEndLeavesNothing(waits: Bool) async throws {
        try await S3Scratch.run(limits: Self.limits()) { scratch in
            try await scratch.write("file", "text")
            if waits { try await scratch.waitForHint() }
            await scratch.storage.end()
            #expect(try await scratch.other.keys() == ["file"])
            try await scratch.write("file-2", "text")
            try await Task.sleep(for: .milliseconds(200))
            #expect(try await scratch.other.keys() == ["file", "file-2"])
        }
    }

    /// The other replica removes it.
    @Test func anEndLeavesTheHintOfAnother() async throws {
        try await S3Scratch.run(limits: Self.limits()) { scratch in
            try await scratch.write("file", "text")
            try await scratch.waitForHint()
            try await scratch.put(Self.object, text("1 1 /a"))
            await scratch.storage.end()
            #expect(try await scratch.other.keys() == [Self.object, "file"])
        }
    }

    @Test(arguments: ["Enabled", "Suspended"]) func noVersionsOfHintsAreLeft(state: String) async throws {
        try await S3Scratch.run(limits: Self.limits()) { scratch in
            for state in Set(["Enabled", state]).sorted() {
                var request = S3Request("PUT")
                request.query = [("versioning", "")]
                request.body = .bytes(
                    Array("<VersioningConfiguration><Status>\(state)</Status></VersioningConfiguration>".utf8))
                _ = try await scratch.other.connection.send(request)
            }
            for number in 0..<3 {
                try await scratch.write("file-\(number)", "text")
                #expect(
                    try await eventually {
                        let text = try await scratch.other.content(at: Self.object) ?? []
                        return HintText(text)?.changes.last?.number ?? 0 > number
                    })
            }
            #expect(try await eventually { try await scratch.versions(of: Self.object) == 1 })
            await scratch.storage.end()
            #expect(try await scratch.versions(of: Self.object) == 0)
        }
    }

    // MARK: Where nothing may be written

    /// A policy forbids it: that is said once, and not tried again soon.
    @Test func aRefusedHintIsNoFailure() async throws {
        let complaints = Locked<[String]>([])
        var limits = Self.limits()
        limits.complain = { text in complaints.withLock { $0.append(text) } }
        try await S3Scratch.run(limits: limits) { scratch in
            try await scratch.setPolicy(
                """
                {"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:PutObject",
                "Resource":"arn:aws:s3:::\(scratch.bucket)/\(Self.object)"}]}
                """)
            try await scratch.write("file", "text")
            #expect(try await eventually { !complaints.withLock { $0 }.isEmpty })
            try await scratch.setPolicy(nil)
            try await scratch.write("file-2", "text")
            try await Task.sleep(for: .milliseconds(300))
            #expect(try await scratch.other.keys() == ["file", "file-2"])
            await scratch.storage.end()
            #expect(complaints.withLock { $0.count } == 1)
            #expect(complaints.withLock { $0[0].hasPrefix("other replicas can't be told of changes") })
            #expect(try await scratch.other.keys() == ["file", "file-2"])
        }
    }

    /// A call that hangs would never be ended.
    @Test func hintsAreNoProgressOfCalls() async throws {
        try await S3Scratch.run(limits: Self.limits()) { scratch in
            let steps = scratch.storage.steps
            var signals = scratch.storage.signals().makeAsyncIterator()
            for name in ["a", "b", "c"] {
                try await scratch.put(Self.object, text("1 1 /\(name)", "2 1 /b", "3 1 /c"))
                if name == "a" { #expect(await signals.next() == .some(scratch.path("a"))) }
            }
            #expect(scratch.storage.steps == steps)
        }
    }

    // MARK: Decisions

    private static let (first, second) = ("0a1b", "ff")

    @Test func textsAreReadAsWritten() throws {
        var text = HintText()
        text.add([.root, StoragePath([FileName("a b"), FileName("ü%\n")])], run: Self.first, from: 1)
        #expect(HintText(text.bytes) == text)
        for round in 0..<3 {
            text.add((0..<50).map { StoragePath([FileName("\($0)")]) }, run: Self.second, from: UInt64(round * 50 + 1))
        }
        #expect(text.changes.count == HintText.most && text.changes.last?.number == 150)
        #expect(HintText(text.bytes) == text)
        // The newest fit.
        let long = FileName(String(repeating: "é", count: 127))
        text.add((0..<100).map { StoragePath([long, long, FileName("\($0)")]) }, run: Self.first, from: 3)
        let read = try #require(HintText(text.bytes))
        #expect(
            text.bytes.count <= HintText.longest && read.changes.last == text.changes.last && read.changes.count > 30)
    }

    @Test(arguments: [
        "", "\n", "0 1 a", "x 1 /a", "A 1 /a", " 1 /a", "0 0 /a", "0 -1 /a", "0 a /a", "0 1", "0 1 ", "0 1 //a",
        "0 1 /a/",
        "0 1 /a//b", "0 1 /..", "0 1 /a/./b", "0 1 /a%2Fb", "0 1 /a%00", "0 1 /%zz", "0 18446744073709551616 /a",
        "0 1 /a\r\n0 2 /b\n\n", "0123456789abcdef0123456789abcdef0 1 /a", "0  1 /a",
    ])
    func invalidTextsAreNone(_ lines: String) {
        #expect(HintText(Array((HintText.title + "\n" + lines).utf8)) == nil)
        #expect(HintText(Array(lines.utf8)) == nil)
    }

    @Test func textsAreBounded() {
        let line = "\n0 1 /a"
        let most = HintText.title + String(repeating: line, count: HintText.most)
        #expect(HintText(Array(most.utf8))?.changes.count == HintText.most)
        #expect(HintText(Array((most + line).utf8)) == nil)
        #expect(HintText(Array(HintText.title.utf8) + [0x0a, 0xff]) == nil)
    }

    @Test func onlyNewChangesAreHeard() {
        var text = HintText()
        func add(_ run: String, _ numbers: ClosedRange<UInt64>) {
            text.add(numbers.map { StoragePath([FileName("\($0)")]) }, run: run, from: numbers.lowerBound)
        }
        var known = HeardHints(own: "00")
        func expectHeard(_ wanted: [String], everywhere: Bool = false, now: Double = 0, _ line: Int = #line) {
            let found = known.hear(text).map(\.description)
            #expect(found == wanted, "line \(line)")
            let isEverywhere = known.takesEverywhere(now: now)
            #expect(isEverywhere == everywhere, "line \(line)")
        }
        add(Self.first, 4...5)
        expectHeard(["4", "5"])
        add(Self.first, 6...6)
        add("00", 1...9)
        expectHeard(["6"])
        expectHeard([])
        // Another run, in which nothing is missing.
        add(Self.second, 7...7)
        expectHeard(["7"])
        add(Self.second, 9...9)
        expectHeard(["9"], everywhere: true)
        add(Self.second, 11...11)
        expectHeard(["11"], now: 100)
        expectHeard([], everywhere: true, now: HeardHints.restEverywhere)
        // A number that nothing follows.
        add(Self.second, UInt64.max...UInt64.max)
        expectHeard(["\(UInt64.max)"], everywhere: true, now: 10_000)
        text = HintText()
        add(Self.second, 1...20)
        expectHeard([], now: 20_000)
    }
}

extension S3Scratch {
    fileprivate func waitForHint() async throws {
        #expect(try await eventually { try await other.keys().contains(".replica/changes") })
    }

    /// The number of versions of an object, and of marks of its removal.
    fileprivate func versions(of key: String) async throws -> Int {
        var request = S3Request("GET")
        request.query = [("versions", ""), ("prefix", key)]
        let answer = try await other.connection.send(request)
        return String(decoding: answer.body, as: UTF8.self).components(separatedBy: "<VersionId>").count - 1
    }

    fileprivate func setPolicy(_ policy: String?) async throws {
        var request = S3Request(policy == nil ? "DELETE" : "PUT")
        request.query = [("policy", "")]
        if let policy { request.body = .bytes(Array(policy.utf8)) }
        _ = try await other.connection.send(request)
    }
}
