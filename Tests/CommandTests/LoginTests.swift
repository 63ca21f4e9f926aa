import CLinux
import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaControl

/// What `replica login` keeps, and for which URLs it is found.
@Suite(.serialized) struct LoginTests {
    @Test(arguments: [
        ("davs://dav.example.org/some/folder", "davs://dav.example.org"),
        ("davs://me@DAV.example.org:8443/some?ca=/ca", "davs://me@dav.example.org:8443"),
        ("dav://[::1]:80/?clear=yes", "dav://[::1]:80"), ("rclone:remote:path", "rclone:"),
        ("s3://bucket/folder?region=eu&endpoint=https://s3.example.org", "s3://bucket?endpoint=https://s3.example.org"),
        ("s3://bucket?profile=work", "s3://bucket?profile=work"),
        ("own://Host/path?b=2&a=1", "own://Host?a=1&b=2"), ("own:///server-a/", "own:///server-a"),
        ("davs://m%65+%4a@host", "davs://me%2BJ@host"), ("own://%ff@host/", "own://%ff@host"),
    ])
    func aLoginIsForAServerAndAnAccount(url: String, place: String) throws {
        #expect(LoginPlace(try StoreURL(url))?.text == place)
    }

    @Test(arguments: ["file:///folder", "sftp://host/folder"]) func someStoresHaveNoLogin(url: String) throws {
        #expect(LoginPlace(try StoreURL(url)) == nil)
    }

    @Test func aSavedLoginAppliesToItsFolders() throws {
        let folder = try TemporaryFolder()
        let logins = Logins(folder: folder.path.appending("some/where"), service: nil)
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
        // A domain that used one goes on with it.
        #expect(try logins.find(url, last: place.text)?.secrets == secrets)
        #expect(logins.state(of: url, last: place.text) == .kept(.file(logins.path, refusal: nil)))
        #expect(throws: SecretError.self) { try logins.find(url, last: "davs://they@host") }
        #expect(throws: SecretError.self) { try logins.forget(#require(LoginPlace(url))) }
        #expect(try logins.forget(place.of(user: "you")) == "davs://you@host")
        #expect(try logins.secrets(for: url) == secrets)
        #expect(try logins.forget(try #require(LoginPlace(url))) == place.text)
        #expect(try logins.forget(place) == nil)
        #expect(access(logins.path.string, F_OK) != 0)
    }

    @Test func aFileForOthersIsNotUsed() throws {
        let folder = try TemporaryFolder()
        let logins = Logins(folder: folder.path, service: nil)
        let url = try StoreURL("s3://bucket")
        _ = try logins.keep(["access_key": "a"], for: #require(LoginPlace(url)))
        chmod(logins.path.string, 0o640)
        #expect(throws: SecretError.self) { try logins.secrets(for: url) }
        #expect(throws: SecretError.self) { try logins.keep([:], for: #require(LoginPlace(url))) }
        chmod(logins.path.string, 0o600)
        #expect(try logins.secrets(for: url) == ["access_key": "a"])
    }

    /// In whatever way its user is written, and never for another place that looks like it.
    @Test func loginPlacesAreComparedByTheirParts() throws {
        let folder = try TemporaryFolder()
        let logins = Logins(folder: folder.path, service: nil)
        for spelling in ["davs://me@home@host/", "davs://a+b@host/", "davs://m%65@host/", "davs://%4a@host/"] {
            let url = try StoreURL(spelling)
            let place = try #require(LoginPlace(url))
            _ = try logins.keep(["token": "t"], for: place)
            #expect(place == place.of(user: try #require(place.userName)))
            for text in [spelling, place.text, "davs://host"] {
                #expect(try logins.secrets(for: StoreURL(text)) == ["token": "t"])
            }
            #expect(try logins.forget(place) == place.text)
        }
        for (kept, other) in [
            ("own://good.example?account=me@mail.example", "own://mail.example"),
            ("s3://backup?profile=work@acme", "s3://acme"), ("own:///server-a", "own:///server-b"),
            ("own://h?server=a&server=b", "own://h?server=b&server=a"),
        ] {
            _ = try logins.keep(["token": "t"], for: #require(LoginPlace(StoreURL(kept))))
            #expect(try logins.secrets(for: StoreURL(other)) == [:])
            #expect(try logins.forget(#require(LoginPlace(StoreURL(other)))) == nil)
            #expect(try logins.secrets(for: StoreURL(kept)) == ["token": "t"])
        }
    }

    /// Another user could have put an old login or a link to somebody's file there, and could hold the lock for ever.
    @Test func aFolderOfOthersIsNotUsed() throws {
        let folder = try TemporaryFolder()
        let logins = Logins(folder: folder.path, service: nil, lockSeconds: 0.2)
        let url = try StoreURL("s3://bucket")
        let place = try #require(LoginPlace(url))
        _ = try logins.keep(["access_key": "a"], for: place)
        func isRefused() {
            #expect(throws: SecretError.self) { try logins.keep(["access_key": "b"], for: place) }
            #expect(throws: SecretError.self) { try logins.forget(place) }
        }
        for mode: mode_t in [0o777, 0o770, 0o702] {
            chmod(folder.path.string, mode)
            isRefused()
            #expect(throws: SecretError.self) { try logins.secrets(for: url) }
        }
        chmod(folder.path.string, 0o755)
        if geteuid() == 0 {
            chown(folder.path.string, 12_345, 0)
            isRefused()
            #expect(throws: SecretError.self) { try logins.secrets(for: url) }
            chown(folder.path.string, 0, 0)
        }
        let lock = open(folder.path.string, O_RDONLY | O_DIRECTORY)
        #expect(flock(lock, LOCK_EX) == 0)
        isRefused()
        close(lock)
        #expect(try logins.secrets(for: url) == ["access_key": "a"])
        let moved = folder.path.appending("moved")
        #expect(rename(logins.path.string, moved.string) == 0 && symlink(moved.string, logins.path.string) == 0)
        isRefused()
        #expect(throws: SecretError.self) { try logins.secrets(for: url) }
    }

    /// What could not be read again would take all other logins with it.
    @Test func onlyLoginsThatCanBeReadBackAreSaved() throws {
        let folder = try TemporaryFolder()
        let logins = Logins(folder: folder.path, service: nil)
        let place = try #require(LoginPlace(StoreURL("davs://me@host")))
        let good = ["user": "me", "password": "p"]
        _ = try logins.keep(good, for: place)
        let long = String(repeating: "x", count: 9_000)
        for secrets in [
            ["user": "a\nb"], ["user": "a\n[davs://other]\npassword=p"], ["user": "a\ntoken=t"], ["user": "\u{1B}]0;"],
            ["user": "a\r"], ["user": "\u{9B}2J"], ["a=b": "c"], [" a": "b"], ["#a": "b"], ["[a": "b]"],
            ["token": long], ["token": long + String(repeating: long, count: 7)],
        ] {
            #expect(throws: SecretError.self) { try logins.keep(secrets, for: place) }
            #expect(try logins.secrets(for: StoreURL("davs://me@host/folder")) == good)
        }
        // The file of all of them is read only up to a length.
        var count = 0
        #expect(throws: SecretError.self) {
            while count < 20 {
                _ = try logins.keep(["token": String(long.prefix(8_000))], for: place.of(user: "user\(count)"))
                count += 1
            }
        }
        #expect(count > 5 && count < 20)
        #expect(try logins.secrets(for: StoreURL("davs://me@host/folder")) == good)
    }

    /// A command that was killed leaves nothing for ever.
    @Test func noPartialFileIsLeft() throws {
        let folder = try TemporaryFolder()
        let logins = Logins(folder: folder.path, service: nil)
        let place = try #require(LoginPlace(StoreURL("s3://bucket")))
        let new = try folder.write("[s3://bucket]\naccess_key=a", to: ".logins.new")
        #expect(try logins.forget(place) == nil && access(new.string, F_OK) != 0)
    }

    @Test func theLoginOfADomainIsRecorded() throws {
        let folder = try TemporaryFolder()
        #expect(DomainLogin.place(state: folder.path) == nil)
        for place in ["davs://me@host", "s3://bucket?endpoint=http://h", "davs://me@host"] {
            for _ in 0..<2 {
                DomainLogin.note(place, state: folder.path)
                #expect(DomainLogin.place(state: folder.path) == place)
            }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path.string)
        #expect(names == ["login"])
    }

    /// Whoever reads logins leaves no core dump with them from then on. One after the other: the attribute is the process's.
    @Test func aProcessThatReadLoginsIsNotDumpable() throws {
        let folder = try TemporaryFolder()
        let logins = Logins(folder: folder.path, service: nil)
        let url = try StoreURL("s3://bucket")
        let place = try #require(LoginPlace(url))
        let uses: [() throws -> Void] = [
            { _ = try logins.keep(["access_key": "a"], for: place) }, { _ = try logins.secrets(for: url) },
            { _ = logins.state(of: url) }, { _ = try logins.forget(place) },
        ]
        defer { _ = cl_prctl(CL_PR_SET_DUMPABLE, 1, 0, 0, 0) }
        for (number, use) in uses.enumerated() {
            #expect(cl_prctl(CL_PR_SET_DUMPABLE, 1, 0, 0, 0) == 0)
            try use()
            #expect(cl_prctl(CL_PR_GET_DUMPABLE, 0, 0, 0, 0) == 0, "\(number)")
        }
    }

    @Test func linesAreSplitByBytes() throws {
        for value in ["\u{301}x", "\u{200D}", "\u{FE0F}=", "=\u{301}"] {
            let secrets = ["password": value, "user": "me"]
            let text = try SecretLines.text(of: secrets)
            #expect(try SecretLines.secrets(in: text, called: "it") == secrets)
        }
        let windows = "user=me\r\npassword=p\r\n\r\n# c\r\n"
        #expect(try SecretLines.secrets(in: windows, called: "it") == ["user": "me", "password": "p"])
    }

    @Test func theTableIsReadAsItWasWritten() throws {
        var table = LoginTable()
        table.entries = [
            "davs://[::1]": .secrets(["user": "a", "password": "b=c]"]), "s3://b?x=] secret-service": .elsewhere,
            "own://": .secrets([:]), "davs://\u{301}": .secrets(["password": "\u{301}x", "user": "\u{FE0F}"]),
        ]
        #expect(try LoginTable(table.text(), called: "it").entries == table.entries)
        for place in ["a]\nb=c\n[d", "a\n"] {
            var other = LoginTable()
            other.entries[place] = .secrets(["a": "b"])
            #expect(throws: SecretError.self) { try other.text() }
        }
        for text in ["a=b", "[a", "[a]\nb", "[a] secret-service\nb=c"] {
            #expect(throws: SecretError.self) { try LoginTable(text, called: "it") }
        }
    }
}
