import HTTPClient
import HTTPStorage
import ReplicaModel
import Testing

@testable import WebDAVStore

/// URLs and logins.
@Suite struct WebDAVAddressTests {
    @Test func urlsAreRead() throws {
        let address = try WebDAVAddress("m%40e@Example.org:8443/a%20b/%C3%BC/?ca=/a.pem&clear=yes", isSecure: true)
        #expect(address.user == "m@e" && address.host == "example.org" && address.port == 8443)
        #expect(address.path == [FileName("a b"), FileName("ü")])
        #expect(address.authorities == "/a.pem" && address.mayShowPassword)
        #expect(address.url([FileName("c?#%")], isFolder: false) == "https://example.org:8443/a%20b/%C3%BC/c%3F%23%25")
        #expect(address.url([], isFolder: true) == "https://example.org:8443/a%20b/%C3%BC/")
        let short = try WebDAVAddress("[::1]", isSecure: false)
        #expect(short.url([], isFolder: true) == "http://[::1]/" && short.isLocal && short.path.isEmpty)
    }

    /// A password may be sent unencrypted there.
    @Test func onlyLoopbackAddressesAreLocal() throws {
        for host in ["localhost", "127.0.0.1", "127.1.2.3:80", "[::1]:80", "LOCALHOST"] {
            #expect(try WebDAVAddress(host, isSecure: false).isLocal)
        }
        for host in ["127.evil.example", "127.0.0.1.evil.example", "127.", "127.1", "128.0.0.1", "1.127.0.0", "[::2]"] {
            #expect(try !WebDAVAddress(host, isSecure: false).isLocal)
        }
    }

    @Test(arguments: [
        "", "/a", "@host/", "a:b@host/", "host:0/", "host:x/", "ho st/", "-host/", "host/../a", "host//a",
        "host/%2e%2e",
        "host/a%2fb", "host/%00", "host/%zz", "host/%ff", "host/a#b", "host?ca", "host?frob=1", "host?clear=no", "[x]/",
        "us%0aer@host/", "a%3A%CC%81b@host/", "host/%0d",
    ]) func ambiguousURLsAreRejected(_ text: String) {
        #expect(throws: WebDAVAddress.Invalid.self) { try WebDAVAddress(text, isSecure: true) }
    }

    private let password = WebDAVLogin.password(user: "u", password: "p")

    @Test func loginsAreReadFromTheFile() throws {
        #expect(try WebDAVLogin.find(user: nil, secrets: ["User": "u", "password": "p"]) == password)
        #expect(try WebDAVLogin.find(user: "u", secrets: ["user": "other", "password": "p\r"]) == password)
        #expect(try WebDAVLogin.find(user: "u", secrets: ["token": "t"]) == .token("t"))
        #expect(try WebDAVLogin.find(user: nil, secrets: [:]) == .nothing)
        for secrets in [["password": "p"], ["user": "u"], ["user": "u\r\nEvil: x", "password": "p"]] {
            #expect(throws: ServerFailure.self) { try WebDAVLogin.find(user: nil, secrets: secrets) }
        }
    }

    @Test func theServerChoosesTheScheme() throws {
        let (basic, digest) = (
            Challenge("Basic realm=\"x, Digest\""), Challenge("Digest realm=\"x\", nonce=\"y\", Basic realm=x")
        )
        #expect(try password.shown(basic, isHidden: true) == .basic(user: "u", password: "p"))
        #expect(try password.shown(nil, isHidden: true) == .basic(user: "u", password: "p"))
        #expect(try password.shown(digest, isHidden: true) == .basic(user: "u", password: "p"))
        // Never in plain text over a network that others can read.
        #expect(try password.shown(digest, isHidden: false) == .digest(user: "u", password: "p"))
        #expect(throws: ServerFailure.self) { try password.shown(Challenge("Basic realm=\"x\""), isHidden: false) }
        #expect(throws: ServerFailure.self) { try WebDAVLogin.token("t").shown(basic, isHidden: false) }
        #expect(try WebDAVLogin.token("t").shown(basic, isHidden: true) == .bearer("t"))
        #expect(throws: ServerFailure.self) { try WebDAVLogin.nothing.shown(basic, isHidden: true) }
        #expect(throws: ServerFailure.self) { try password.shown(Challenge("Negotiate"), isHidden: true) }
    }
}
