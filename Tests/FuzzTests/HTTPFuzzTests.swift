import HTTPStorage
import PathStore
import ReplicaModel
import Testing

@testable import HTTPClient
@testable import S3Store
@testable import WebDAVStore

/// What servers over HTTP send.
@Suite struct HTTPFuzzTests {
    @Test func listingsOfBuckets() throws {
        let prefix = Array("a/".utf8)
        try Fuzzer.run("listing") { bytes in
            guard let answer = ListAnswer(bytes, bucket: "bucket", prefix: prefix) else { return false }
            let keys = answer.objects.map(\.key) + answer.prefixes
            let areBelow = keys.allSatisfy { $0.starts(with: prefix) } && answer.objects.allSatisfy { $0.size >= 0 }
            #expect(areBelow)
            return true
        }
    }

    @Test func whatIsToldOfThings() throws {
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

    @Test func complaints() throws {
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

    @Test func headers() throws {
        try Fuzzer.run("headers", rounds: 20_000) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let line = text.split(separator: "\n").first.map(String.init) ?? ""
            if let size = HTTPHead.size(line) { #expect(size >= 0) }
            for moment in [Moment.header(line), Moment.listing(line)].compactMap(\.self) {
                #expect((0...253_402_300_799).contains(moment))
            }
            let tag = EntityTag.value(line)
            if let tag { #expect((1...128).contains(tag.utf8.count)) }
            _ = Resource.Tag(line)
            let challenge = Challenge(line)
            #expect(challenge.words.utf8.count <= 60)
            return tag != nil || Moment.header(line) != nil || HTTPHead.size(line) != nil || challenge.takesBasic
        }
    }
}
