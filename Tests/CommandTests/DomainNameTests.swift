import ReplicaControl
import Testing

/// Names of domains and URLs of stores.
@Suite struct DomainNameTests {
    @Test(arguments: ["a", "photos", "Ünïcode", "with space", "a.b", "a-b", String(repeating: "x", count: 200)])
    func validNamesAreAccepted(name: String) throws {
        #expect(try DomainName(name).text == name)
    }

    @Test(arguments: [
        ("", DomainNameError.empty), (".", .badStart), ("..", .badStart), (".hidden", .badStart), ("-o", .badStart),
        ("a/b", .forbidden("/")), ("a:b", .forbidden(":")), ("a\nb", .forbidden("\n")), ("a\u{0}b", .forbidden("\0")),
        (" a", .space), ("a ", .space), (String(repeating: "x", count: 201), .tooLong),
    ])
    func invalidNamesAreRefused(name: String, error: DomainNameError) {
        #expect(throws: error) { try DomainName(name) }
    }

    @Test func namesAreEqualByBytes() throws {
        let composed = try DomainName("\u{E9}")
        let decomposed = try DomainName("e\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test(arguments: [
        ("file:///srv/store", "/srv/store"), ("FILE:///a", "/a"), ("file:///a%20b", "/a b"), ("file:///a//", "/a"),
        ("file:///", "/"), ("file:///%41", "/A"), ("file:///ü", "/ü"),
    ])
    func fileURLsHaveAPath(text: String, path: String) throws {
        #expect(try StoreURL(text).filePath() == Array(path.utf8))
    }

    @Test(arguments: [
        ("", StoreURLError.notURL), ("photos", .notURL), ("file:/srv", .notURL), ("://x", .notURL),
        ("a b://x", .notURL),
        ("file://host/srv", .relativePath), ("file://srv", .relativePath), ("file:///a?b", .parameters),
        ("file:///a#b", .parameters), ("file:///a%2", .notURL), ("file:///a%zz", .notURL), ("file:///a%+f", .notURL),
        ("file:///a%00", .notURL),
        ("7z://x", .notURL), ("a.b://x", .notURL), ("-a://x", .notURL), ("ä://x", .notURL),
        ("https://user:secret@host/", .secret), ("x://u:p@h", .secret), ("x://u:\u{301}p@h", .secret),
        ("s3://bucket?secret=x", .secret), ("s3://b?region=a&access_key_id=x", .secret), ("file:///a\nb", .notURL),
        ("rclone::s3,secret_access_key=x:b", .secret), ("rclone:x,Pass=y:b", .secret), ("rclone:a:b\nc", .notURL),
        ("rclone::webdav,url='https://h',user=u,pass=X:dir", .secret), ("rclone:x,url=\"https://u:p@h\":b", .secret),
        ("rclone:x,sas_url=y:b", .secret), ("rclone:x,a='b:''c',cookie=d:b", .secret),
    ])
    func invalidURLsAreRefused(text: String, error: StoreURLError) {
        #expect(throws: error) { try StoreURL(text) }
    }

    /// Whether a store exists is determined when it is opened.
    @Test(arguments: ["gopher://x", "S3://bucket/a?region=b", "a+b-7://", "sftp://me@host:22/x"])
    func urlsOfAnySchemeAreAccepted(text: String) throws {
        #expect(try StoreURL(text).text == text)
    }

    /// rclone's URLs have rclone's own syntax.
    @Test(arguments: [
        ("rclone:photos:a/b", "photos:a/b"), ("RCLONE:photos:", "photos:"), ("rclone://photos:a", "photos:a"),
        ("rclone:mail:user@host/x?token", "mail:user@host/x?token"), ("rclone:x,chunk_size=1M:b", "x,chunk_size=1M:b"),
    ])
    func rcloneURLsAreAccepted(text: String, rest: String) throws {
        let url = try StoreURL(text)
        #expect(url.scheme == "rclone" && url.rest == rest && url.text == text)
        #expect(StoreURL.looksLikeURL(text) && StoreURL.beginning(of: url.scheme) == "rclone:")
    }

    @Test func anyPathHasAFileURL() throws {
        let path: [UInt8] = Array("/a b/%#?".utf8) + [0xFF, 0x0A]
        #expect(try StoreURL.file(path: path).filePath() == path)
    }
}
