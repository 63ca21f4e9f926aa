import Foundation
import Testing

@testable import RcloneStore

/// `rclone:remote:path`.
@Suite struct RcloneAddressTests {
    @Test(arguments: [
        ("rclone:photos:", "photos:"), ("rclone:photos:a/b/", "photos:a/b"), ("rclone://photos:a", "photos:a"),
        ("RCLONE:my drive:/x", "my drive:/x"), ("rclone::memory:b", ":memory:b"), ("rclone:x:/", "x:/"),
        ("rclone:s3,no_head=true:b", "s3,no_head=true:b"), ("rclone:mail:user@host/x", "mail:user@host/x"),
        ("rclone::webdav,url='https://u@h/a?b=c':d", ":webdav,url='https://u@h/a?b=c':d"),
    ])
    func validURLsAreParsed(_ text: String, _ root: String) throws {
        #expect(try RcloneAddress(text).root == root)
    }

    @Test(arguments: [
        ("rclone:", "its form is"), ("rclone:photos", "its form is"), ("rclone:/srv/x", "its form is"),
        ("rclone:a/b:c", "its form is"), ("rclone:::x", "its form is"), ("rclone:a:b]c", "']'"),
        ("rclone:a:b\nc", "control characters"), ("rclone::s3,secret_access_key=x:b", "contains a secret"),
        ("rclone:x,Pass=y:b", "contains a secret"), ("sftp://a/b", "not an rclone URL"),
        ("rclone:x,url='https://h:b", "its form is"),
    ])
    func invalidURLsAreRejected(_ text: String, _ words: String) {
        let error = #expect(throws: RcloneAddress.Invalid.self) { try RcloneAddress(text) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    /// rclone's quotes hide no secret.
    @Test(arguments: [
        "rclone::webdav,url='https://h',user=u,pass=X:dir", "rclone::webdav,url=\"h:1\",pass=X:d",
        "rclone:x,a='it''s:',pass=X:d",
        "rclone::azureblob,sas_url='https://h':b", "rclone:x,cookie=c:b", "rclone:x,headers='A,b':b",
        "rclone:x,pass='a:b",
        "rclone:x,url='https://u:p@h/x':b", "rclone:x,url='https://h/?sig=c':b",
        "rclone::alias,remote=':ftp,pass=X:':b", "rclone::storj,access_grant=X:b", "rclone::internxt,mnemonic='a b':d",
        "rclone::mega,session_id=X:", "rclone::azureblob,connection_string='A=b':c", "rclone::koofr,2fa=1:",
    ])
    func secretsAreFoundBehindQuotes(_ text: String) {
        let error = #expect(throws: RcloneAddress.Invalid.self) { try RcloneAddress(text) }
        #expect(error?.description.contains("contains a secret") == true, "\(error?.description ?? "")")
    }

    /// All that rclone itself calls passwords.
    @Test func obscuredValuesAreSecrets() throws {
        struct Provider: Decodable {
            struct Option: Decodable {
                let name: String
                let isPassword: Bool

                private enum CodingKeys: String, CodingKey {
                    case name = "Name"
                    case isPassword = "IsPassword"
                }
            }

            let options: [Option]

            private enum CodingKeys: String, CodingKey {
                case options = "Options"
            }
        }
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: RcloneRemote.path)
        (process.arguments, process.standardOutput) = (["config", "providers"], pipe)
        process.environment = RcloneRemote.environment
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let options = try JSONDecoder().decode([Provider].self, from: data).flatMap(\.options)
        let names = Set(options.filter(\.isPassword).map(\.name))
        #expect(names.count > 10)
        for name in names {
            #expect(throws: RcloneAddress.Invalid.self, "\(name)") { try RcloneAddress("rclone::x,\(name)=v:b") }
        }
    }

    /// What a server's URL has in its query is shown to nobody.
    @Test func messagesHaveNoQueries() {
        let text = #"Get "https://h/x?sig=topsecret&a": EOF; is http://h/y?topsecret there? ok"#
        #expect(
            RcloneError.Complaint(status: 500, text: text).text
                == #"Get "https://h/x?…": EOF; is http://h/y?… there? ok"#)
        #expect(RcloneProcess.End(words: "x Failed to do it: " + text).lastLine.contains("topsecret") == false)
    }

    /// Of an error about a file with such a name, as rclone words it.
    @Test(arguments: [
        ("quota exceeded", "open /srv/data/quota exceeded: permission denied", false),
        ("a/quota exceeded", #"Put "https://h/a/quota%20exceeded?x": EOF"#, false),
        ("quota exceeded", "quota exceeded: EOF", false),
        ("quota exceeded", #"failed to copy "quota exceeded": EOF"#, false),
        ("quota exceeded", "quota exceeded", true), ("quota", "open /srv/quota: quota exceeded", true),
        ("file", "open /srv/file: quota exceeded", true),
    ])
    func aNameInAMessageIsNotAReason(_ name: String, _ text: String, isFull: Bool) throws {
        #expect(RcloneError.Complaint(status: 500, text: text, paths: ["drive:x", name]).isFull == isFull)
    }
}
