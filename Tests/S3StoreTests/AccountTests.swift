import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import S3Store

/// URLs, keys and where they come from.
@Suite struct AccountTests {
    @Test func urlsAreRead() throws {
        let address = try S3Address(
            "my-bucket/a%20b/c/?endpoint=https://s3.example.org:9000/base/&region=eu-1&profile=work&style=virtual&ca=/a.pem"
        )
        #expect(address.bucket == "my-bucket")
        #expect(address.prefix == [FileName("a b"), FileName("c")])
        #expect(address.endpoint == "https://s3.example.org:9000/base")
        #expect(address.region == "eu-1" && address.profile == "work" && address.isVirtualHosted == true)
        #expect(address.authorities == "/a.pem")
        #expect(try S3Address("bucket").prefix.isEmpty)
    }

    @Test(arguments: [
        "", "/x", "ab", "bu cket", "bucket@host", "..", "bucket//x", "bucket/../x", "bucket/./x", "bucket/%2e%2e",
        "bucket/a%2fb", "bucket/%00", "bucket/%ff", "bucket/%zz", "bucket?endpoint=ftp://x", "bucket?endpoint=https://",
        "bucket?endpoint=https://a@b", "bucket?endpoint=https://a%20b", "bucket?region=a/b", "bucket?style=other",
        "bucket?frob=1", "bucket?region", "bucket?endpoint=https://a%0d%0ax",
    ]) func ambiguousURLsAreRejected(_ text: String) {
        #expect(throws: S3Address.Invalid.self) { try S3Address(text) }
    }

    private func find(
        _ url: String, _ secrets: [String: String] = [:], _ environment: [String: String] = [:]
    ) throws -> S3Account {
        try S3Account.find(try S3Address(url), secrets, environment, ofMachine: nil)
    }

    @Test func keysAreSearchedInOrder() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            # a comment
            [default]
            aws_access_key_id = default key
            aws_secret_access_key=default=secret
            [work]
            aws_access_key_id=work
            aws_secret_access_key=secret
            aws_session_token=token
            """, to: ".aws/credentials")
        try folder.write(
            """
            [profile work]
            region = eu-2
            endpoint_url = http://localhost:1/
            s3 =
              region = not this
            [profile sso]
            sso_session = x
            """, to: ".aws/config")
        let home = ["HOME": folder.path.string]
        let keys = ["AWS_ACCESS_KEY_ID": "environment", "AWS_SECRET_ACCESS_KEY": "secret"]
        #expect(
            try find("bucket", [:], home).credentials
                == S3Credentials(accessKey: "default key", secretKey: "default=secret"))
        let work = try find("bucket?profile=work", [:], home.merging(keys) { $1 })
        #expect(work.credentials == S3Credentials(accessKey: "work", secretKey: "secret", sessionToken: "token"))
        #expect(work.region == "eu-2" && work.endpoint == "http://localhost:1" && !work.isVirtualHosted)
        #expect(try find("bucket", [:], home.merging(["AWS_PROFILE": "work"]) { $1 }).credentials.accessKey == "work")
        #expect(try find("bucket", [:], home.merging(keys) { $1 }).credentials.accessKey == "environment")
        let given = ["access_key": " file ", "Secret_Key": "secret"]
        #expect(try find("bucket", given, home.merging(keys) { $1 }).credentials.accessKey == "file")
        #expect(
            throws: ServerFailure.notAuthenticated(
                "the profile sso uses sso_session to log in, which is not supported yet")
        ) {
            try find("bucket?profile=sso", [:], home)
        }
        #expect(throws: ServerFailure.self) { try find("bucket?profile=none", [:], home) }
        #expect(throws: ServerFailure.self) { try find("bucket", ["access_key": "alone"], ["HOME": "/nowhere"]) }
    }

    @Test func amazonsEndpointsAreByRegion() throws {
        let keys = ["access_key": "a", "secret_key": "b"]
        let account = try find("bucket?region=eu-1", keys)
        #expect(account.endpoint == "https://s3.eu-1.amazonaws.com" && account.isVirtualHosted)
        // A wildcard certificate covers one label, not two.
        #expect(try !find("bucket.with.dots", keys).isVirtualHosted)
        #expect(try find("bucket", keys, ["AWS_REGION": "us-2"]).region == "us-2")
        #expect(try find("bucket", keys, ["AWS_ENDPOINT_URL": "https://x"]).endpoint == "https://x")
    }

    @Test func modesAreParsedLikeS3fsAndRclone() {
        let modes: [(String, Bool, UInt32?)] = [
            ("0100644", false, 0o100644), ("100664", false, 0o100664), ("33188", false, 0o100644),
            ("41471", false, 0o120777), ("40755", true, 0o040755), ("16877", true, 0o040755), ("644", false, 0o644),
            ("99999999999999", false, nil), ("-1", false, nil), ("", false, nil), ("0x1f", false, nil),
        ]
        for (text, isFolder, mode) in modes {
            #expect(ModeAndTimeText.parsed(text, isFolder: isFolder) == mode, "\(text)")
        }
    }

    @Test(arguments: [
        (0, 0), (1_764_000_000, 0), (1_764_000_000, 5), (-1, 0), (-1, 500_000_000), (-2, 999_999_999), (5, 120_000_000),
    ]) func timesAreParsedAsWritten(_ seconds: Int64, _ nanoseconds: Int64) {
        let date = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        #expect(ModeAndTimeText.time(ModeAndTimeText.text(date)) == date, "\(ModeAndTimeText.text(date))")
    }

    @Test func timesOfOtherToolsAreParsed() {
        #expect(ModeAndTimeText.time("1234567890.123") == Timestamp(seconds: 1_234_567_890, nanoseconds: 123_000_000))
        #expect(ModeAndTimeText.time("1.0000000001") == Timestamp(seconds: 1, nanoseconds: 0))
        for text in ["", "x", "1.2.3", "1e9", "99999999999999999999", "1.", "--1"] {
            #expect(ModeAndTimeText.time(text) == nil, "\(text)")
        }
        #expect(ServerTime.header("Wed, 21 Oct 2015 07:28:00 GMT") == 1_445_412_480)
        #expect(ServerTime.listing("2015-10-21T07:28:00.999Z") == 1_445_412_480)
        #expect(ServerTime.stamp(1_445_412_480) == "20151021T072800Z")
        for text in ["", "Wed, 99 Oct 2015 07:28:00 GMT", "Wed, 21 Foo 2015 07:28:00 GMT", "x x x x x x"] {
            #expect(ServerTime.header(text) == nil)
        }
    }
}
