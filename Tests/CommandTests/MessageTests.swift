import Foundation
import ReplicaControl
import Testing

/// The lines on the control socket (docs/CONTROL.md).
@Suite struct MessageTests {
    static let path = ControlPath(bytes: "a/ü b".utf8)
    static let odd = ControlPath(bytes: Array("a/".utf8) + [0xFF])
    static let date = Date(timeIntervalSince1970: 1_700_000_000)

    static let requests: [ControlRequest] = [
        .hello, .status, .item(path: path), .item(path: odd), .item(path: .root), .find(id: "x"), .conflicts,
        .pending(since: nil), .pending(since: ""), .materialized(since: nil), .materialized(since: "7.9"),
        .resolve(path: path, keep: .both), .download(path: path, range: nil, recursive: nil, wait: true),
        .download(path: path, range: ByteRange(offset: 5, length: 7), recursive: false, wait: false),
        .evict(path: path, strict: true), .forget(path: path),
        .pin(path: path), .unpin(path: path), .reimport(path: path), .resend(path: path, fields: nil),
        .resend(path: odd, fields: ["tags"]), .connect, .disconnect(reason: "moving", temporary: nil),
        .disconnect(reason: "update", temporary: true),
        .wait(path: .root), .retry(path: nil), .retry(path: path), .approve, .restore,
        .resolved(code: "notAuthenticated"), .watch,
        .mount(mountpoint: ControlFilePath(bytes: [0x2F, 0xFF]), options: ["ro"]), .unmount(flush: true),
        .remove(keep: .dirty),
    ]

    static let answers: [ControlAnswer] = [
        .done, .daemon(DaemonStatus(name: "a", pid: 7, mountpoint: ControlFilePath(bytes: Array("/mnt".utf8)))),
        .domain(domainStatus), .item(itemStatus),
        .evicted(EvictionResult(items: 1, bytes: 2, refused: [.init(path: path, code: "busy", message: "open")])),
        .removed(RemovalResult(preserved: nil, files: 0)), .restored(RestorationResult(items: 3, left: 1)),
        .anchor("7.9"),
    ]

    static let events: [ControlEvent] = [
        .progress(progress), .items([itemStatus]),
        .left([
            DepartureStatus(path: odd, id: nil, number: 9), DepartureStatus(path: nil, id: "x", number: 10),
            DepartureStatus(path: nil, id: nil, number: 11),
        ]),
        .conflicts([ConflictStatus(path: path, copy: odd, date: date, detail: "both changed")]),
        .change(ChangeEvent(date: date, kind: "uploaded", path: path)),
    ]

    static let progress = TransferProgress(
        itemsDone: 1, itemsTotal: 2, bytesDone: 3, bytesTotal: 4, bytesPerSecond: 5.5, secondsLeft: 0.5)

    static var domainStatus: DomainStatus {
        let directory = ControlFilePath(bytes: Array("/state".utf8))
        var status = DomainStatus(name: "a", store: "file:///s", directory: directory, state: .syncing)
        (status.pid, status.pending, status.errors, status.conflicts) = (7, 3, 0, 0)
        status.progress = progress
        return status
    }

    static var itemStatus: ItemStatus {
        var item = ItemStatus(path: path, id: "x", number: 9, kind: .file, state: .partial, size: 12)
        item.pending = ["contents"]
        item.version = ItemStatusVersion(content: "1", metadata: "2")
        item.error = ItemStatusError(code: "serverUnreachable", message: "no", attempts: 2, nextTry: date)
        return item
    }

    @Test(arguments: requests) func requestsAreDecodedAsEncoded(request: ControlRequest) throws {
        let line = try ControlCodec.encode(RequestLine(id: 3, request: request))
        #expect(line.last == 0x0A && line.dropLast().allSatisfy { $0 != 0x0A })
        #expect(try ControlCodec.decodeRequest(line) == RequestLine(id: 3, request: request))
    }

    @Test(arguments: answers) func answersAreDecodedAsEncoded(answer: ControlAnswer) throws {
        let line = try ControlCodec.encode(ReplyLine(id: 3, answer: answer))
        #expect(try ControlCodec.decode(ReplyLine.self, from: line) == ReplyLine(id: 3, answer: answer))
    }

    @Test(arguments: events) func eventsAreDecodedAsEncoded(event: ControlEvent) throws {
        let line = try ControlCodec.encode(ReplyLine(id: 3, event: event))
        #expect(try ControlCodec.decode(ReplyLine.self, from: line) == ReplyLine(id: 3, event: event))
    }

    @Test(arguments: ExitReason.allCases) func failuresAreDecodedAsEncoded(code: ExitReason) throws {
        let reply = ReplyLine(id: 3, failure: ControlFailure(code, "no"))
        #expect(try ControlCodec.decode(ReplyLine.self, from: try ControlCodec.encode(reply)) == reply)
    }

    /// The format on which other languages rely.
    @Test(arguments: [
        (#"{"protocol":1,"id":1,"request":{"status":{}}}"#, ControlRequest.status),
        (#"{"protocol":1,"id":1,"request":{"item":{"path":"/a//b/./"}}}"#, .item(path: ControlPath(bytes: "a/b".utf8))),
        (#"{"protocol":1,"id":1,"request":{"item":{"path":[97,255]}}}"#, .item(path: ControlPath(bytes: [97, 255]))),
        (
            #"{"protocol":1,"id":1,"request":{"download":{"path":"a","wait":true}},"extra":1}"#,
            .download(path: ControlPath(bytes: "a".utf8), range: nil, recursive: nil, wait: true)
        ),
        (#"{"protocol":1,"id":1,"request":{"retry":{}}}"#, .retry(path: nil)),
        (#"{"protocol":1,"id":1,"request":{"pending":{}}}"#, .pending(since: nil)),
        (#"{"protocol":1,"id":1,"request":{"disconnect":{"reason":"x"}}}"#, .disconnect(reason: "x", temporary: nil)),
        (#"{"protocol":1,"id":1,"request":{"remove":{"keep":"none"}}}"#, .remove(keep: .none)),
    ])
    func requestsAreThisJSON(line: String, request: ControlRequest) throws {
        #expect(try ControlCodec.decodeRequest(line.utf8).request == request)
    }

    @Test func repliesAreThisJSON() throws {
        let done = try ControlCodec.encode(ReplyLine(id: 1, answer: .done))
        #expect(String(decoding: done, as: UTF8.self) == #"{"answer":{},"id":1}"# + "\n")
        let failure = try ControlCodec.encode(ReplyLine(id: 1, failure: ControlFailure(.noSuchItem, "a: gone")))
        let expected = #"{"failure":{"code":"noSuchItem","message":"a: gone"},"id":1}"# + "\n"
        #expect(String(decoding: failure, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        ("nonsense", "not a request: a JSON object with protocol, id and request"),
        (#"{"id":1}"#, "not a request: a JSON object with protocol, id and request"),
        (#"{"protocol":99,"id":1,"request":{"future":{}}}"#, "the daemon speaks protocol 1, the client 99"),
        (#"{"protocol":1,"id":1,"request":{"frobnicate":{}}}"#, "the daemon does not know this request"),
        (#"{"protocol":1,"id":1,"request":{"item":{"path":"a\u0000b"}}}"#, "the daemon does not know this request"),
        (#"{"protocol":1,"id":1,"request":{"evict":{"path":"a"}}}"#, "the daemon does not know this request"),
    ])
    func otherLinesAreRefused(line: String, message: String) {
        #expect(throws: ControlFailure(.wrongProtocol, message)) { try ControlCodec.decodeRequest(line.utf8) }
    }

    @Test func aNegativeRangeIsRefused() {
        let line =
            #"{"protocol":1,"id":1,"request":{"download":{"path":"a","wait":true,"range":{"offset":-1,"length":2}}}}"#
        #expect(throws: ControlFailure.self) { try ControlCodec.decodeRequest(line.utf8) }
    }

    @Test func linesMayArriveInPieces() throws {
        var buffer = ControlLineBuffer()
        var lines: [String] = []
        for byte in "one\n\ntwo\nthr".utf8 {
            buffer.append([byte])
            while let line = try buffer.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        }
        #expect(lines == ["one", "", "two"])
        buffer.append(repeatElement(UInt8(ascii: "x"), count: ControlCodec.longest))
        #expect(throws: ControlFailure(.wrongProtocol, "the line is too long")) { try buffer.next() }
    }

    /// A number keeps its meaning for ever.
    @Test func exitStatusesKeepTheirNumbers() {
        let numbers = Dictionary(uniqueKeysWithValues: ExitReason.allCases.map { ($0.name, $0.rawValue) })
        #expect(
            numbers == [
                "success": 0, "failed": 1, "noSuchDomain": 3, "domainExists": 4, "notRunning": 5, "noSuchItem": 6,
                "timedOut": 7, "needsAttention": 8, "refused": 9, "offline": 10, "cannotImport": 11, "busy": 12,
                "denied": 13, "unsupported": 14, "badStore": 15, "wrongProtocol": 16, "notInDomain": 17,
                "interrupted": 18, "anchorExpired": 19, "broken": 20, "mountFailed": 32, "usage": 64,
            ])
    }
}

/// docs/CONTROL.md describes what the program does.
@Suite struct ControlDocumentTests {
    private func document() throws -> String {
        try String(contentsOf: ScriptTests.root.appending(path: "docs/CONTROL.md"), encoding: .utf8)
    }

    @Test func everyExitCodeIsInTheTable() throws {
        let rows = try document().matches(of: #/\n\| (\d+) \| (\w+) \|/#).map { "\($0.2)=\($0.1)" }
        #expect(rows == ExitReason.allCases.map { "\($0.name)=\($0.rawValue)" })
    }

    @Test func everyRequestIsInTheTable() throws {
        let text = try document()
        for request in MessageTests.requests {
            let line = String(decoding: try ControlCodec.encode(request), as: UTF8.self)
            let name = try #require(line.firstMatch(of: #/^\{"(\w+)"/#)).1
            #expect(text.contains(try Regex("\n\\|[^|]*`\(name)`")), "no row for \(name)")
        }
    }
}
