import HTTPStorage
import PathStore
import ReplicaModel
import Testing

@testable import HTTPClient
@testable import ReplicaControl
@testable import S3Store
@testable import WebDAVStore

/// What servers over HTTP send.
@Suite struct HTTPFuzzTests {
    @Test func anyBucketListingIsParsedOrRejected() throws {
        let prefix = Array("a/".utf8)
        try Fuzzer.run("listing") { bytes in
            guard let answer = ListAnswer(bytes, bucket: "bucket", prefix: prefix) else { return false }
            let keys = answer.objects.map(\.key) + answer.prefixes
            let areBelow = keys.allSatisfy { $0.starts(with: prefix) } && answer.objects.allSatisfy { $0.size >= 0 }
            #expect(areBelow)
            return true
        }
    }

    @Test func anyMultistatusAnswerIsParsedOrRejected() throws {
        let address = try WebDAVAddress("host/a", isSecure: true)
        var head = HTTPHead()
        head.status = 207
        let told = head
        try Fuzzer.run("multistatus") { bytes in
            let answer = Multistatus(address)
            for start in stride(from: 0, to: bytes.count, by: 97) {
                let piece = Array(bytes[start..<min(start + 97, bytes.count)])
                if !piece.withUnsafeBytes({ answer.take($0, told) }) { return false }
            }
            guard let found = answer.finish(told) else { return false }
            for resource in found {
                let areValid = resource.names.allSatisfy(\.isValid)
                #expect(areValid)
                _ = resource.entry(now: 1_000)
            }
            return true
        }
    }

    @Test func anyErrorAnswerIsParsedOrRejected() throws {
        try Fuzzer.run("error") { bytes in
            var head = HTTPHead()
            (head.status, head.headers) = (403, ["retry-after": "5", "date": "Wed, 21 Oct 2015 07:28:00 GMT"])
            let answer = HTTPAnswer(head: head, body: bytes)
            let complaint = S3Complaint(answer)
            let isShort = complaint.words.utf8.count < 2_000 && (complaint.region ?? "").utf8.count <= 40
            #expect(isShort)
            let other = WebDAVError.Complaint(answer)
            #expect(other.words.utf8.count < 2_000)
            _ = WebDAVError.partial(answer)
            return XMLReader.read(bytes) != nil
        }
    }

    @Test func anyHeaderIsParsedOrRejected() throws {
        try Fuzzer.run("headers", rounds: 20_000) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let line = text.split(separator: "\n").first.map(String.init) ?? ""
            if let size = HTTPHead.size(line) { #expect(size >= 0) }
            for moment in [ServerTime.header(line), ServerTime.listing(line)].compactMap(\.self) {
                #expect((0...253_402_300_799).contains(moment))
            }
            let tag = EntityTag.value(line)
            if let tag { #expect((1...128).contains(tag.utf8.count)) }
            _ = Resource.Tag(line)
            let challenge = Challenge(line)
            #expect(challenge.words.utf8.count <= 60)
            return tag != nil || ServerTime.header(line) != nil || HTTPHead.size(line) != nil || challenge.takesBasic
        }
    }

    /// No answer of a login flow leads to another server, or puts into a form or a file what means something there.
    @Test func anyLoginFlowIsParsedOrRejected() throws {
        let flow = try LoginFlow("https://cloud.example.org")
        try Fuzzer.run("login") { bytes in
            if let begun: LoginFlow.Begun = try? LoginFlow.value(bytes) {
                let token = try? LoginFlow.token(begun)
                #expect(token.map { !$0.contains("&") && !$0.isEmpty } ?? true)
                let pages = [begun.login, begun.poll.endpoint].map { try? flow.own($0) }
                #expect(pages.compactMap(\.self).allSatisfy { $0.hasPrefix("https://cloud.example.org/") })
                return token != nil && !pages.contains(nil)
            }
            guard let answer: LoginFlow.Answer = try? LoginFlow.value(bytes), let granted = try? flow.granted(answer)
            else { return false }
            #expect(!"\(granted.user)\(granted.password)\(granted.store)".utf8.contains { $0 < 0x20 })
            let prefix = "davs://cloud.example.org/remote.php/dav/files/"
            #expect(granted.store.hasPrefix(prefix) && !granted.store.dropFirst(prefix.count).contains("/"))
            var table = LoginTable()
            table.entries[granted.store] = .secrets(["user": granted.user, "password": granted.password])
            let read = try? LoginTable(table.text(), called: "it")
            #expect(read?.entries == table.entries)
            return true
        }
    }
}
