import Foundation
import Glibc
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import HTTPClient
@testable import WebDAVStore

/// A server that means harm, or is none.
@Suite struct WebDAVHostileServerTests {
    private static let program = Result {
        try ServingProgram(
            "hostile-server", [TemporaryFolder.unusedPath().string])
    }

    private struct Scratch: StorageScratch {
        let storage: WebDAVStorage
    }

    private func address(_ folder: String) throws -> WebDAVAddress {
        try WebDAVAddress("\(try Self.program.get().values["DAV_SERVER"] ?? "")/\(folder)", isSecure: false)
    }

    /// Requests that it got, with what they showed to be let in.
    private func seen() throws -> [String] {
        let path = try Self.program.get().values["DAV_SEEN"] ?? ""
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func run(_ folder: String, _ body: (Scratch) async throws -> Void) async throws {
        let storage = try await WebDAVStorage.open(
            try address(folder), .nothing, abilities: ServerAbilities(hasTags: true, isExact: true))
        defer { storage.close() }
        try await body(Scratch(storage: storage))
    }

    @Test func namesCannotLeaveTheirFolder() async throws {
        try await run("names") { scratch in
            let found = try await scratch.list()
            #expect(found.keys.sorted() == ["absolute", "good"])
            // What is left out is told, except what is not directly in the folder, and the store's own files.
            let page = try await scratch.storage.list(.root, isDeep: false, from: nil)
            #expect(page.leftOut == LeftOutNames(count: 10, example: "a%2Fb"))
        }
    }

    /// The server would remove it with the folder, although it is in no listing here.
    @Test func aFolderWithAnUnreadableNameIsNotRemoved() async throws {
        try await run("unreadable") { scratch in
            #expect(try await scratch.list("folder").isEmpty)
            let error = try await failure { try await scratch.storage.remove(scratch.path("folder"), version: nil) }
            #expect(error == .notEmpty)
            #expect(try seen().filter { $0.hasPrefix("DELETE") && $0.contains("unreadable") } == [])
        }
    }

    @Test func largeFoldersAreListedCompletely() async throws {
        try await run("large") { scratch in
            let found = try await scratch.list()
            #expect(found.count == 20_000)
        }
    }

    @Test(arguments: ["noself", "bomb", "cut", "status", "endless", "between", "nested", "wide"])
    func anInvalidListingIsAnError(_ folder: String) async throws {
        try await run(folder) { scratch in
            let error = try await failure { _ = try await scratch.list() }
            #expect(error == .unreachable("the server's answer is not a valid WebDAV answer"))
        }
    }

    /// Not when it ends, for it does not: what there is of it is a quarter of a gigabyte.
    @Test(arguments: ["endless", "between"]) func anEndlessAnswerIsAborted(_ folder: String) async throws {
        try await run(folder) { scratch in
            _ = try await failure { _ = try await scratch.list() }
            var sent: [Int] = []
            let isOver = try await eventually {
                sent = try seen().filter { $0.hasPrefix("SENT /\(folder)/") }.compactMap {
                    Int($0.split(separator: " ").last ?? "")
                }
                return !sent.isEmpty
            }
            // Most of it is in the buffers between.
            #expect(isOver && sent.allSatisfy { $0 < 32 << 20 }, "\(sent)")
        }
    }

    /// Neither within what is told of a thing nor between two of them.
    @Test(arguments: [
        ("<D:response><D:href>", "x"), ("<D:response><D:href x='", "x"), ("<D:response><D:", "x"),
        ("<D:response>", "<D:x>"), ("", " "), ("", "<!-- -->"), ("", "<?x y?>"), ("<!--", "x"), ("<?", "x"),
        ("<?x ", "x"), ("<![CDATA[", "x"),
    ]) func endlessContentIsLimited(_ start: String, _ filler: String) throws {
        let answer = Multistatus(try WebDAVAddress("host/a", isSecure: true))
        var head = HTTPHead()
        head.status = 207
        func take(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes { answer.take($0, head) } }
        #expect(take("<D:multistatus xmlns:D=\"DAV:\">\(start)"))
        let piece = String(repeating: filler, count: 4_000 / filler.utf8.count)
        var count = 0
        while count < 4 << 20, take(piece) { count += piece.utf8.count }
        #expect(count < 300_000, "\(start) and \(filler)")
        #expect(answer.finish(head) == nil)
    }

    /// Cyrus 3.6.1 crashes at an upload without content: that file fails, and nothing else.
    @Test func aServerWithoutEmptyFilesKeepsTheOthers() async throws {
        let abilities = ServerAbilities(
            createsConditionally: true, replacesConditionally: true, writesWhole: true, hasTags: true, isExact: true)
        let storage = try await WebDAVStorage.open(try address("crashes"), .nothing, abilities: abilities)
        defer { storage.close() }
        let scratch = Scratch(storage: storage)
        let error = try await failure { try await scratch.write("empty", "") }
        let text = "empty: the server can't store an empty file: it ends the connection without an answer"
        #expect(error == .unavailable(text))
        let uploads = try seen().filter { $0.hasPrefix("PUT /crashes/empty") }
        #expect(uploads.count == 2)
        let version = try #require(try await scratch.write("full", "text").version)
        guard case .taken = try await failure({ try await scratch.write("full", "") }),
            case .unavailable = try await failure({ try await scratch.write("full", "", guard: .version(version)) })
        else {
            Issue.record("it was another failure")
            return
        }
        #expect(try await scratch.entry("full")?.size == 4)
    }

    /// The end of a connection after an answer that did not announce it fails nothing.
    @Test func aConnectionMayEndAfterAnAnswer() async throws {
        try await run("closes") { scratch in
            for number in 0..<20 {
                let size = try await scratch.write("empty \(number)", "").size
                #expect(size == 0)
            }
            let uploads = try seen().filter { $0.hasPrefix("PUT /closes/") }
            #expect(uploads.count == 20)
        }
    }

    @Test func aFileIsNotAFolder() async throws {
        try await run("file") { scratch in
            let error = try await failure { _ = try await scratch.list() }
            #expect(error == .notFound)
        }
    }

    /// What says that nothing is there has to be the server that has the folder above.
    @Test func anAnswerOfAProxyProvesNothing() async throws {
        try await run("lost") { scratch in
            let error = try await failure { _ = try await scratch.entry("file") }
            #expect(error == .unreachable("the store's folder is missing"))
        }
    }

    /// In the way of Cyrus, which answers 207 for what is missing.
    @Test func aMissingResourceMayBeReportedWithinAnAnswer() async throws {
        try await run("absent") { scratch in
            #expect(try await scratch.entry("file") != nil)
            #expect(try await scratch.entry("another") == nil)
            let error = try await failure { _ = try await scratch.list("folder") }
            #expect(error == .notFound)
        }
        let error = try await openingFailure(try address("absent/folder"), .nothing)
        guard case .refused(let text) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(text.hasPrefix("there is no folder"), "\(text)")
    }

    @Test(arguments: ["other", "longer", "shorter", "range", "portal"])
    func anInvalidContentIsRejected(_ folder: String) async throws {
        try await run(folder) { scratch in
            let error = try await failure { _ = try await scratch.read("file", version: "t", range: 0..<3) }
            guard case .unreachable = error else {
                Issue.record("\(folder): \(error)")
                return
            }
        }
    }

    @Test(arguments: [
        ("html", "the server's answer is not a valid WebDAV answer"),
        ("elsewhere", "the server's answer is not a valid WebDAV answer"), ("stale", "has too many headers"),
    ])
    func aServerWithoutWebDAVIsUnreachable(_ folder: String, _ words: String) async throws {
        let login = WebDAVLogin.password(user: "u", password: "p")
        guard case .unreachable(let text) = try await openingFailure(try address(folder), login) else {
            Issue.record("it was another failure")
            return
        }
        #expect(text.contains(words), "\(text)")
    }

    /// Nor does a password go there.
    @Test func redirectsAreNotFollowed() async throws {
        let login = WebDAVLogin.password(user: "u", password: "p")
        let error = try await openingFailure(try address("redirect"), login)
        #expect(error == .refused("the server redirects the folder to http://evil.example/x and more"))
        #expect(try seen().filter { $0.contains("/redirect") } == ["PROPFIND /redirect/ -"])
    }

    /// Every start of an answer, and every answer with one byte changed, is read or refused.
    @Test func anyBytesAreParsedOrRejected() throws {
        let address = try WebDAVAddress("host/a", isSecure: true)
        let whole = Array(
            """
            <D:multistatus xmlns:D="DAV:"><D:response><D:href>/a/b%20c</D:href><D:propstat><D:prop><D:getetag>W/"x"</D:getetag>\
            <D:getcontentlength>5</D:getcontentlength></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>\
            </D:multistatus>
            """.utf8)
        var head = HTTPHead()
        head.status = 207
        func read(_ bytes: [UInt8]) -> [Resource]? {
            let answer = Multistatus(address)
            // In pieces, as they may come.
            for start in stride(from: 0, to: bytes.count, by: 7) {
                let piece = Array(bytes[start..<min(start + 7, bytes.count)])
                if !piece.withUnsafeBytes({ answer.take($0, head) }) { return nil }
            }
            return answer.finish(head)
        }
        let found = try #require(read(whole))
        #expect(found.map(\.names) == [[FileName("b c")]])
        #expect(found[0].version == "x" && found[0].tag?.isWeak == true && found[0].size == 5)
        for count in 0..<whole.count { #expect(read(Array(whole[..<count])) == nil) }
        for (index, byte) in whole.enumerated() {
            for other in [0, 0x3C, 0x25, 0xFF, byte ^ 1] as [UInt8] {
                var bytes = whole
                bytes[index] = other
                #expect(read(bytes)?.allSatisfy { $0.names.allSatisfy(\.isValid) } ?? true)
            }
        }
    }

    @Test(arguments: [
        ("/a/b", ["b"]), ("/a/", []), ("/a", []), ("https://HOST/a/b/", ["b"]), ("http://host:81/a/b", ["b"]),
        ("/b", nil),
        ("//host/a/b", nil), ("https://host.evil/a/b", nil), ("https://host@evil/a/b", nil), ("ftp", nil), ("", nil),
        ("/a/b//c", nil), ("/a/./b", nil), ("/a/%2E%2E/b", nil), (" /a/b\n", ["b"]), ("/A/b", nil),
        ("https://host", nil),
    ])
    func onlyReferencesInTheFolderAreAccepted(_ href: String, _ names: [String]?) throws {
        let address = try WebDAVAddress("host/a", isSecure: true)
        let found = Reference.names(Array(href.utf8), in: address)
        #expect(found == names?.map { FileName($0) }, "\(href)")
    }
}
