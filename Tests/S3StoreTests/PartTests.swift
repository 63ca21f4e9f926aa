import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import S3Store

/// Parts that the server has already are not sent again: those of an upload that was interrupted, and those of the object that is
/// replaced.
@Suite struct PartTests {
    /// Ten parts of a session's size, each different, and a rest.
    private static let content = content(parts: 10)

    private static func content(parts: Int) -> [UInt8] {
        var random = SeededNumbers(seed: 11)
        return (0..<parts * 65_536 + 100).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// The requests with parts, by number: sent, and copied by the server.
    private final class Seen: Sendable {
        let parts = Locked<(sent: [Int], copied: [Int], bytes: Int)>(([], [], 0))

        func note(_ request: HTTPMessage) {
            guard request.words.first == "PUT", let number = Self.number(request) else { return }
            parts.withLock { parts in
                if request["x-amz-copy-source"] != nil { return parts.copied.append(number) }
                parts.sent.append(number)
                parts.bytes += Int(request["content-length"] ?? "") ?? 0
            }
        }

        static func number(_ request: HTTPMessage) -> Int? {
            guard request.words.count > 1, let part = request.words[1].firstMatch(of: #/partNumber=(\d+)/#) else {
                return nil
            }
            return Int(part.1)
        }

        func clear() { parts.withLock { $0 = ([], [], 0) } }
        var sent: [Int] { parts.withLock { $0.sent.sorted() } }
        var copied: [Int] { parts.withLock { $0.copied.sorted() } }
        var bytes: Int { parts.withLock { $0.bytes } }
    }

    /// A line that ends with the seventh part.
    private struct Line {
        var (isDead, isOver) = (true, false)
    }

    private static func template(_ name: String, date: Int64 = 1_700_000_000) -> ItemTemplate {
        var template = ItemTemplate(
            identifier: ItemIdentifier("template of \(name)"), parent: .root, filename: FileName(name), kind: .file)
        template.metadata.modificationDate = Timestamp(seconds: date, nanoseconds: 0)
        template.metadata.mode = 0o644
        return template
    }

    private static func create(
        _ store: PathStore, _ content: [UInt8], _ template: ItemTemplate
    ) async throws -> Item {
        let made = try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            try await store.createItem(
                basedOn: template, fields: [.place, .contents, .modificationDate, .mode], contents: contents,
                options: [])
        }
        return try #require(made.item)
    }

    private static func modify(_ store: PathStore, _ item: Item, _ content: [UInt8]) async throws -> Item {
        let template = ItemTemplate(
            identifier: item.identifier, parent: .root, filename: item.filename, kind: .file)
        let made = try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            try await store.modifyItem(template, base: item.version, changedFields: .contents, contents: contents)
        }
        return try #require(made.item)
    }

    /// A session with a process that dies in the middle of an upload.
    /// - Returns: The parts that the server has acknowledged by then.
    private static func interrupted(
        _ session: S3FaultedSession, _ seen: Seen, _ line: Locked<Line>, _ content: [UInt8] = content
    ) async throws -> Set<Int> {
        try await session.run { store in
            let made = try await session.armed { try? await create(store, content, template("large")) }
            #expect(made == nil)
        }
        let acknowledged = Set(seen.sent)
        #expect(acknowledged.count >= 3)
        seen.clear()
        line.withLock { $0.isDead = false }
        return acknowledged
    }

    /// A session whose requests are lost from the seventh part on, until it is not dead any more.
    private static func session(_ seen: Seen, _ line: Locked<Line>) async throws -> S3FaultedSession {
        let server = try S3Server.shared
        return try S3FaultedSession(server, try await server.bucket(), attempts: 1) { (_, request) in
            let isLost = line.withLock { line in
                if line.isDead, Seen.number(request) == 7 { line.isOver = true }
                return line.isDead && line.isOver
            }
            if isLost { return .lostRequest }
            seen.note(request)
            return nil
        }
    }

    /// Of very many parts, not each is written down by itself.
    @Test(arguments: [10, 70]) func anUploadResumesAfterACrash(parts: Int) async throws {
        let (seen, line, content) = (Seen(), Locked(Line()), Self.content(parts: parts))
        let session = try await Self.session(seen, line)
        let acknowledged = try await Self.interrupted(session, seen, line, content)
        try await session.run { store in
            // A change in between abandons it no more than the end of the process.
            _ = try await Self.create(store, [1], Self.template("other"))
            let uploads = try await session.unfinishedUploads()
            #expect(uploads == 1)
            _ = try await session.armed { try await Self.create(store, content, Self.template("large")) }
            // What was in flight may have been acknowledged or not.
            #expect(Set(seen.sent).isSuperset(of: Set(1...parts + 1).subtracting(acknowledged)))
            #expect(seen.sent.count <= parts + 1 - (acknowledged.count - 4) && seen.copied.isEmpty)
            #expect(!seen.sent.contains(1), "\(seen.sent) of \(acknowledged)")
            #expect(try await session.files() == ["large": content, "other": [1]])
            let left = try await session.unfinishedUploads()
            #expect(left == 0)
        }
    }

    /// The file was changed in the meantime: parts that differ are sent again.
    @Test func onlyPartsWithTheSameBytesAreUsed() async throws {
        let (seen, line) = (Seen(), Locked(Line()))
        let session = try await Self.session(seen, line)
        _ = try await Self.interrupted(session, seen, line)
        var content = Self.content
        content[65_536 + 5] ^= 1
        try await session.run { [content] store in
            _ = try await session.armed { try await Self.create(store, content, Self.template("large")) }
            #expect(seen.sent.contains(2) && !seen.sent.contains(1), "\(seen.sent)")
            #expect(try await session.files() == ["large": content])
        }
    }

    /// The object's date can't be changed after the beginning of its upload; a different content has another size.
    @Test(arguments: [(0, Int64(1_800_000_000)), (50, 1_700_000_000)])
    func anUploadOfAnotherFileRestarts(more: Int, date: Int64) async throws {
        let (seen, line) = (Seen(), Locked(Line()))
        let session = try await Self.session(seen, line)
        _ = try await Self.interrupted(session, seen, line)
        let content = Self.content + [UInt8](repeating: 1, count: more)
        try await session.run { store in
            let made = try await session.armed {
                try await Self.create(store, content, Self.template("large", date: date))
            }
            #expect(made.metadata.modificationDate?.seconds == date)
            #expect(seen.sent == Array(1...11))
            #expect(try await session.files() == ["large": content])
            // The parts of the first are removed.
            let left = try await session.unfinishedUploads()
            #expect(left == 0)
        }
    }

    /// The owner's rule of the bucket, or another tool, removed the parts.
    @Test func anAbortedUploadRestarts() async throws {
        let (seen, line) = (Seen(), Locked(Line()))
        let session = try await Self.session(seen, line)
        _ = try await Self.interrupted(session, seen, line)
        try await session.abortUploads()
        try await session.run { store in
            _ = try await session.armed { try await Self.create(store, Self.content, Self.template("large")) }
            #expect(seen.sent == Array(1...11))
            #expect(try await session.files() == ["large": Self.content])
        }
    }

    /// One changed byte costs one part; an appended one the last.
    @Test func onlyChangedPartsAreSent() async throws {
        let seen = Seen()
        let server = try S3Server.shared
        let session = try S3FaultedSession(server, try await server.bucket()) { (_, request) in
            seen.note(request)
            return nil
        }
        var item: Item?
        try await session.run { store in
            item = try await session.armed { try await Self.create(store, Self.content, Self.template("large")) }
            #expect(seen.sent == Array(1...11) && seen.copied.isEmpty)
        }
        var content = Self.content
        content[4 * 65_536 + 17] ^= 1
        // By the next process.
        try await session.run { [content] store in
            let first = try #require(item)
            seen.clear()
            let second = try await session.armed { try await Self.modify(store, first, content) }
            #expect(seen.sent == [5] && seen.copied == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11])
            #expect((65_536..<80_000).contains(seen.bytes))
            #expect(try await session.files() == ["large": content])
            seen.clear()
            let third = try await session.armed { try await Self.modify(store, second, content + [1]) }
            #expect(seen.sent == [11] && seen.copied == Array(1...10))
            #expect(try await session.files() == ["large": content + [1]])
            // What another client has written has no known parts.
            try await session.writeElsewhere(String(repeating: "x", count: 300_000), to: "large")
            _ = try await store.enumerateItems(in: .root, from: nil)
            let theirs = try await store.item(third.identifier)
            seen.clear()
            _ = try await session.armed { try await Self.modify(store, theirs, content) }
            #expect(seen.sent == Array(1...11) && seen.copied.isEmpty)
            #expect(try await session.files() == ["large": content])
        }
    }

    /// That a part was copied from the right object is certain only at the end of the same attempt: the next one copies it again.
    @Test func copiedPartsAreCopiedAgain() async throws {
        let (seen, isCut) = (Seen(), Locked(false))
        let server = try S3Server.shared
        let session = try S3FaultedSession(server, try await server.bucket(), attempts: 1) { (_, request) in
            let isEnd = request.words.first == "POST" && request.words.dropFirst().first?.contains("uploadId=") == true
            if isEnd, isCut.withLock({ $0 }) { return .lostRequest }
            seen.note(request)
            return nil
        }
        try await session.run { store in
            let first = try await session.armed { try await Self.create(store, Self.content, Self.template("large")) }
            var content = Self.content
            content[4 * 65_536 + 17] ^= 1
            let changed = content
            isCut.withLock { $0 = true }
            let made = try await session.armed { try? await Self.modify(store, first, changed) }
            #expect(made == nil)
            isCut.withLock { $0 = false }
            seen.clear()
            _ = try await session.armed { try await Self.modify(store, first, changed) }
            #expect(seen.sent.isEmpty && seen.copied == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11])
            #expect(try await session.files() == ["large": changed])
        }
    }

    /// Another client replaces the object while its parts are copied: parts of two objects would be a file that nobody has
    /// written. Ceph tests no condition of such a copy.
    @Test func partsOfTwoObjectsAreNeverJoined() async throws {
        let server = try S3Server.shared
        let theirs = (0..<700_000).map { "\($0 % 10)" }.joined()
        let isIt: @Sendable (HTTPMessage) -> Bool = { $0["x-amz-copy-source"] != nil && Seen.number($0) == 8 }
        let deed: @Sendable (S3FaultedSession?) async throws -> Void = {
            try await $0?.writeElsewhere(theirs, to: "large")
        }
        try await InterposedClient.run(server, try await server.bucket(), before: isIt, deed) { store, session in
            let item = try await Self.create(store, Self.content, Self.template("large"))
            var content = Self.content
            content[3] ^= 1
            let changed = content
            let made = try await session.armed { try? await Self.modify(store, item, changed) }
            #expect(made == nil)
            #expect(try await session.files() == ["large": Array(theirs.utf8)])
            let left = try await session.unfinishedUploads()
            #expect(left == 0)
        }
    }
}

/// Numbers by a seed.
private struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
