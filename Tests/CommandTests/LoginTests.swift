import Foundation
import Glibc
import SystemPackage
import Testing

@testable import ReplicaControl

/// What `replica login` keeps, and for which URLs it is found.
@Suite struct LoginTests {
    @Test(arguments: [
        ("davs://dav.example.org/some/folder", "davs://dav.example.org"),
        ("davs://me@DAV.example.org:8443/some?ca=/ca", "davs://me@dav.example.org:8443"),
        ("dav://[::1]:80/?clear=yes", "dav://[::1]:80"), ("rclone:remote:path", "rclone:"),
        ("s3://bucket/folder?region=eu&endpoint=https://s3.example.org", "s3://bucket?endpoint=https://s3.example.org"),
        ("s3://bucket?profile=work", "s3://bucket?profile=work"),
        ("own://host/path?b=2&a=1", "own://host?a=1&b=2"), ("own:///path", "own://"),
    ])
    func aLoginIsForAServerAndAnAccount(url: String, place: String) throws {
        #expect(LoginPlace(try StoreURL(url))?.text == place)
    }

    @Test(arguments: ["file:///folder", "sftp://host/folder"]) func someStoresHaveNone(url: String) throws {
        #expect(LoginPlace(try StoreURL(url)) == nil)
    }

    @Test func oneThatWasKeptIsFoundForItsFolders() throws {
        let folder = try TemporaryFolder()
        let logins = Logins(folder: folder.path.appending("some/where"))
        let url = try StoreURL("davs://host/folder")
        #expect(try logins.secrets(for: url) == [:])
        let place = try #require(LoginPlace(url)).of(user: "me@home")
        #expect(place.text == "davs://me%40home@host")
        let secrets = ["user": "me@home", "password": " with = and # and [ "]
        #expect(try logins.keep(secrets, for: place) == .file(logins.path, refusal: nil))
        for text in ["davs://host", "davs://host/a/b", "davs://me%40home@HOST/a"] {
            #expect(try logins.secrets(for: StoreURL(text)) == secrets)
        }
        for text in ["dav://host", "davs://host:444/", "davs://other@host/", "davs://host.org/", "s3://host"] {
            #expect(try logins.secrets(for: StoreURL(text)) == [:])
        }
        var status = stat()
        #expect(stat(logins.path.string, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        // Another one beside it, for which nobody can know which is meant.
        _ = try logins.keep(["user": "you"], for: place.of(user: "you"))
        #expect(throws: SecretError.self) { try logins.secrets(for: url) }
        #expect(try logins.secrets(for: StoreURL("davs://you@host")) == ["user": "you"])
        #expect(try logins.forget(place.of(user: "you")) == "davs://you@host")
        #expect(try logins.secrets(for: url) == secrets)
        #expect(try logins.forget(try #require(LoginPlace(url))) == place.text)
        #expect(try logins.forget(place) == nil)
        #expect(access(logins.path.string, F_OK) != 0)
    }

    @Test func aFileForOthersIsNotUsed() throws {
        let folder = try TemporaryFolder()
        let logins = Logins(folder: folder.path)
        let url = try StoreURL("s3://bucket")
        _ = try logins.keep(["access_key": "a"], for: #require(LoginPlace(url)))
        chmod(logins.path.string, 0o640)
        #expect(throws: SecretError.self) { try logins.secrets(for: url) }
        #expect(throws: SecretError.self) { try logins.keep([:], for: #require(LoginPlace(url))) }
        chmod(logins.path.string, 0o600)
        #expect(try logins.secrets(for: url) == ["access_key": "a"])
    }

    @Test func theTableIsReadAsItWasWritten() throws {
        var table = LoginTable()
        table.entries = [
            "davs://[::1]": .secrets(["user": "a", "password": "b=c]"]), "s3://b?x=] secret-service": .elsewhere,
            "own://": .secrets([:]),
        ]
        #expect(try LoginTable(table.text, called: "it").entries == table.entries)
        for text in ["a=b", "[a", "[a]\nb", "[a] secret-service\nb=c"] {
            #expect(throws: SecretError.self) { try LoginTable(text, called: "it") }
        }
    }
}
