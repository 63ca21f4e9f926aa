import HTTPClient
import PercentEncoding
import Testing

@testable import S3Store

/// Signatures, by the examples of Amazon's own documentation (Signature Calculations for the Authorization Header).
@Suite struct SignatureTests {
    private static let signature = Signature(
        credentials: S3Credentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1", moment: "20130524T000000Z")
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private func sign(
        _ method: String, _ path: String, _ query: [(name: String, value: String)] = [],
        _ headers: [(name: String, value: String)] = [], payload: String = empty
    ) -> String {
        let all = Self.signature.signed(
            method, host: "examplebucket.s3.amazonaws.com", path: path, query: query, headers: headers, payload: payload
        )
        let line = all.last { $0.name == "Authorization" }?.value ?? ""
        return String(line.split(separator: "=").last ?? "")
    }

    @Test func aReadRequestIsSigned() {
        let found = sign("GET", "/test.txt", [], [("Range", "bytes=0-9")])
        #expect(found == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func aWriteRequestIsSigned() {
        let hash = Hash.hexadecimal(Hash.sha256(Array("Welcome to Amazon S3.".utf8)))
        #expect(hash == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
        let found = sign(
            "PUT", "/" + PercentText.encoded("test$file.text".utf8, keeping: "/"), [],
            [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")], payload: hash)
        #expect(found == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func aQueryWithoutAValueIsSigned() {
        #expect(
            sign("GET", "/", [("lifecycle", "")]) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    }

    @Test func aListingRequestIsSigned() {
        #expect(
            sign("GET", "/", [("prefix", "J"), ("max-keys", "2")])
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    /// HMAC-SHA-256, by RFC 4231.
    @Test func hashesMatchTheStandard() {
        let code = Hash.hmac(Array("Jefe".utf8), "what do ya want for nothing?")
        #expect(Hash.hexadecimal(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test func aSessionTokenIsSignedWithTheRest() {
        var signature = Self.signature
        signature = Signature(
            credentials: S3Credentials(accessKey: "a", secretKey: "b", sessionToken: "t"), region: signature.region,
            moment: signature.moment)
        let all = signature.signed("GET", host: "h", path: "/", query: [], headers: [], payload: Self.empty)
        #expect(all.contains { $0.name == "x-amz-security-token" && $0.value == "t" })
        #expect(all.last?.value.contains("host;x-amz-content-sha256;x-amz-date;x-amz-security-token") == true)
    }
}
