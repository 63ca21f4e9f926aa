import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import replica

/// Units' names and texts.
@Suite struct UnitTextTests {
    @Test(arguments: [
        "photos", "my photos", "a-b", ".hidden", "ü", "%n$HOME", #"\x41"#, "a/b", "a.b_c:d", "\"';", "\n\t",
    ])
    func namesAreEscapedAsSystemdDoes(name: String) async throws {
        let result = try await run("/usr/bin/systemd-escape", "--", name)
        #expect(UnitName.escaped(Array(name.utf8)) + "\n" == result.output)
    }

    @Test(arguments: ["/home/me/Photos", "/", "/a-b/c d/", "/ü", "/.a"])
    func pathsAreEscapedAsSystemdDoes(path: String) async throws {
        let result = try await run("/usr/bin/systemd-escape", "--path", "--suffix=mount", "--", path)
        #expect((UnitName.mount(at: Array(path.utf8)) ?? "") + "\n" == result.output)
    }

    @Test func anOverlongNameIsRejected() {
        let longest = UnitName.service(of: String(repeating: "-", count: 59))
        #expect(longest?.utf8.count == 252)
        #expect(UnitName.service(of: String(repeating: "-", count: 60)) == nil)
        let path = "/" + String(repeating: "x", count: 250)
        #expect(UnitName.mount(at: Array(path.utf8)) == nil)
    }

    @Test func specialCharactersAreQuoted() {
        let unit = UnitText(
            program: Array("/opt/a b/mount.replica".utf8), domain: "$X %n", directory: Array("/m \"\\\n/é;".utf8),
            options: [Array("ro,nohydrate=a:b".utf8)], environment: ["XDG_DATA_HOME": "/d %h"])
        let wanted: [String] = [
            "[Unit]", #"After=m\x20\x22\x5c\x0a-\xc3\xa9\x3b.mount"#,
            "[Service]", #"Environment="XDG_DATA_HOME=/d %%h""#, "ExecStart=",
            #"ExecStart=":/opt/a b/mount.replica" "$X %%n" "/m \"\\\x0a/é;" "-o" "foreground" "-o" "ro,nohydrate=a:b""#,
            "",
        ]
        let lines = (unit.text ?? "").components(separatedBy: "\n").dropFirst()
        #expect(Array(lines) == wanted)
        #expect(unit.text.flatMap(UnitText.directory) == unit.directory)
        #expect(UnitText.directory(in: "[Service]\nExecStart=\n") == nil)
        let bad = UnitText(program: [47], domain: "d", directory: [47, 0xFF], options: [], environment: [:])
        #expect(bad.text == nil)
    }

    /// The shipped units, checked by systemd.
    @Test(arguments: ["user", "system"])
    func unitsAreWellFormed(scope: String) async throws {
        let folder = try TemporaryFolder()
        var text = try String(
            contentsOf: ScriptTests.root.appending(path: "systemd/\(scope)/replica@.service"), encoding: .utf8)
        // The log has names of a store, and journald would show what begins with <0> on all terminals.
        #expect(text.contains("\nSyslogLevelPrefix=no\n"))
        // A mount works without a network.
        #expect(!text.components(separatedBy: "\n").contains { !$0.hasPrefix("#") && $0.contains("network") })
        text = text.replacing("@sbindir@", with: Programs.folder.path).replacing("@bindir@", with: Programs.folder.path)
        let file = try folder.write(text, to: "replica@.service")
        let result = try await run(
            "/usr/bin/systemd-analyze", "--\(scope)", "--man=no", "verify", file.string,
            environment: ["XDG_RUNTIME_DIR": folder.path.string])
        #expect(result.code == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result)")
        // A user's unit needs fusermount3, which the hardening of user units forbids: its score means nothing.
        guard scope == "system" else { return }
        let exposure = try await run(
            "/usr/bin/systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=60", file.string)
        #expect(exposure.code == 0, "\(exposure)")
    }
}
