import HTTPStorage
import PathStore
import Testing

@testable import HTTPClient
@testable import S3Store

/// XML and listings of a hostile server, or of something else: none of it is trusted.
@Suite struct HostileXMLTests {
    private func read(_ text: String) -> XMLElement? { XMLReader.read(Array(text.utf8)) }

    @Test func documentTypesAreRefused() {
        let bomb = """
            <!DOCTYPE a [<!ENTITY b "xxxxxxxxxx"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><a>&c;</a>
            """
        #expect(read(bomb) == nil)
        #expect(read("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>") == nil)
        #expect(read("<a>&b;</a>") == nil)
        #expect(read("<a>&lt;&amp;</a>")?.text == "<&")
    }

    @Test func depthElementsAndTextHaveLimits() {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(read(nested(16)) != nil)
        #expect(read(nested(17)) == nil)
        #expect(read("<a>" + String(repeating: "<b/>", count: 49_999) + "</a>")?.children.count == 49_999)
        #expect(read("<a>" + String(repeating: "<b/>", count: 50_000) + "</a>") == nil)
        #expect(read("<a>" + String(repeating: "x", count: 8 << 20) + "</a>") == nil)
    }

    /// It becomes part of a host name and of a header.
    @Test(arguments: [
        ("eu-west-1", true), ("", false), ("x.example/", false), ("x\r\nEvil: header", false), ("x:443@host", false),
        (String(repeating: "x", count: 41), false),
    ])
    func aRegionIsAPlainWord(_ text: String, _ isTaken: Bool) {
        var said = HTTPHead(status: 301)
        said.headers["x-amz-bucket-region"] = text
        let body = Array("<Error><Code>PermanentRedirect</Code><Region>\(text)</Region></Error>".utf8)
        for answer in [HTTPAnswer(head: said, body: []), HTTPAnswer(head: HTTPHead(status: 301), body: body)] {
            #expect(S3Complaint(answer).region == (isTaken ? text : nil))
        }
    }

    @Test(arguments: ["", "<", "<a>", "<a></b>", "<a/><b/>", "text", "<html><p></html>", "<a>\u{1}</a>", "{\"a\":1}"])
    func invalidDocumentsAreRejected(_ text: String) {
        #expect(read(text) == nil)
    }

    /// Every start of a listing, and every listing with one byte changed, is read or refused.
    @Test func anyBytesAreParsedOrRejected() {
        let whole = Array(page(keys: ["a/b", "a/c%20d"]).utf8)
        #expect(ListAnswer(whole, bucket: "bucket", prefix: Array("a/".utf8)) != nil)
        for count in 0..<whole.count {
            #expect(ListAnswer(Array(whole[..<count]), bucket: "bucket", prefix: Array("a/".utf8)) == nil)
        }
        for (index, byte) in whole.enumerated() {
            for other in [0, 0x3C, 0x25, 0xFF, byte ^ 1] as [UInt8] {
                var bytes = whole
                bytes[index] = other
                let answer = ListAnswer(bytes, bucket: "bucket", prefix: Array("a/".utf8))
                #expect(answer?.objects.allSatisfy { $0.key.starts(with: Array("a/".utf8)) } ?? true)
            }
        }
    }

    private func page(
        keys: [String], count: Int? = nil, prefix: String = "a/", name: String = "bucket", size: String = "1",
        end: String = "<IsTruncated>false</IsTruncated>"
    ) -> String {
        let contents = keys.map {
            "<Contents><Key>\($0)</Key><ETag>&quot;e&quot;</ETag><Size>\(size)</Size><LastModified>x</LastModified></Contents>"
        }
        return """
            <ListBucketResult xmlns="x"><EncodingType>url</EncodingType><Name>\(name)</Name><Prefix>\(prefix)</Prefix>\
            \(contents.joined())<KeyCount>\(count ?? keys.count)</KeyCount>\(end)</ListBucketResult>
            """
    }

    private func list(_ text: String) -> ListAnswer? {
        ListAnswer(Array(text.utf8), bucket: "bucket", prefix: Array("a/".utf8))
    }

    @Test func aListingIsCompleteOrRejected() {
        #expect(list(page(keys: ["a/b"]))?.objects.count == 1)
        #expect(list(page(keys: [])) != nil)
        for (reason, text) in [
            ("a count of more", page(keys: ["a/b"], count: 2)), ("a count of less", page(keys: ["a/b"], count: 0)),
            ("another prefix", page(keys: ["a/b"], prefix: "b/")), ("another bucket", page(keys: ["a/b"], name: "x")),
            ("a key of another folder", page(keys: ["b/b"])), ("no size", page(keys: ["a/b"], size: "")),
            ("a size below zero", page(keys: ["a/b"], size: "-1")),
            ("a size that is none", page(keys: ["a/b"], size: "99999999999999999999")),
            ("a key that is not encoded so", page(keys: ["a/%zz"])), ("no end", page(keys: ["a/b"], end: "")),
            ("an end that is none", page(keys: ["a/b"], end: "<IsTruncated>maybe</IsTruncated>")),
            ("a next page that nothing leads to", page(keys: ["a/b"], end: "<IsTruncated>true</IsTruncated>")),
            (
                "a way to it without end",
                page(
                    keys: ["a/b"],
                    end: "<IsTruncated>true</IsTruncated><NextContinuationToken>"
                        + String(repeating: "x", count: 9_000) + "</NextContinuationToken>")
            ), ("a captive portal", "<html><body>Welcome</body></html>"),
        ] {
            #expect(list(text) == nil, "\(reason)")
        }
    }

    @Test func invalidETagsAreIgnored() {
        #expect(EntityTag.value("\"abc\"") == "abc")
        #expect(EntityTag.value("abc") == "abc")
        for text in ["", "\"\"", "\"", "a b", "a\"b", "ü", "\u{1}", String(repeating: "x", count: 129)] {
            #expect(EntityTag.value(text) == nil, "\(text)")
        }
    }
}
