import ChildProcess
import Testing

@testable import SFTPStore

/// Where URLs lead, and which are rejected before anything runs.
@Suite struct SFTPAddressTests {
    @Test func urlPartsAreParsed() throws {
        let table: [(String, String?, String, UInt16?, String)] = [
            ("host/srv/store", nil, "host", nil, "/srv/store"),
            ("me@host.example.org:2222/a%20b%3F/", "me", "host.example.org", 2_222, "/a b?"),
            ("me%40corp@host/x", "me@corp", "host", nil, "/x"),
            ("me@corp@host/x", "me@corp", "host", nil, "/x"),
            ("[::1]:22/", nil, "::1", 22, "/"), ("[fe80::1%25eth0]/x", nil, "fe80::1%25eth0", nil, "/x"),
            ("host/~/docs", nil, "host", nil, "docs"), ("host/~", nil, "host", nil, ""),
            ("my_alias-1/~other/x", nil, "my_alias-1", nil, "/~other/x"),
        ]
        for (text, user, host, port, path) in table {
            let address = try SFTPAddress(text)
            #expect(address.user == user && address.host == host && address.port == port, "\(text)")
            #expect(address.path == Array(path.utf8), "\(text)")
        }
    }

    @Test(arguments: [
        "-oProxyCommand=x/y", "-host/y", "-l@host/y", "%2Dl@host/y", "a b@host/y", "me%0A@host/y", "$(id)@host/y",
        "@host/y", "ho st/y", "host;id/y", "$(id)/y", "`id`/y", "/y", "", "host", "host:/y", "host:0/y", "host:70000/y",
        "host:22:22/y", "host:-1/y", "[host]/y", "[-::1]/y", "[::1/y", "::1/y", "host/y?x", "host/y#x", "host/%",
        "host/%zz",
        "host/%+1", "host/a%00b", "me\u{E9}@host/y", "h\u{E4}st/y",
    ])
    func ambiguousURLsAreRejected(_ text: String) {
        #expect(throws: SFTPAddress.Invalid.self) { try SFTPAddress(text) }
    }

    /// No host name is taken as an option, nor is anything after it.
    @Test func theHostFollowsAllOptions() throws {
        var command = SSHCommand()
        (command.program, command.arguments) = ("/usr/bin/ssh", ["-F", "/config"])
        let call = try command.call(try SFTPAddress("me@host:22/x"))
        #expect(Array(call.words.prefix(3)) == ["ssh", "-F", "/config"])
        #expect(Array(call.words.suffix(8)) == ["-p", "22", "-l", "me", "-s", "--", "host", "sftp"])
        #expect(call.words.contains("BatchMode=yes") && !call.words.joined().contains("/x"))
    }
}
