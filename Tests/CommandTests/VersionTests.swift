import Foundation
import ProcessStore
import ReplicaControl
import ReplicaTestSupport
import SystemPackage
import Testing

/// The output of both programs for `--version`.
@Suite struct VersionTests {
    @Test func bothProgramsPrintTheirProtocols() async throws {
        let mount = try await run(Programs.mount, "--version")
        let lines = mount.output.split(separator: "\n").map(String.init)
        try #require(mount.code == 0 && mount.errors.isEmpty && lines.count == 7, "\(mount)")
        #expect(
            Array(lines.prefix(4)) == [
                "mount.replica \(programVersion)", "control protocol \(controlProtocolVersion)",
                "store protocol \(storeProtocolVersion)", "JSON output \(jsonVersion)",
            ])
        #expect(lines[4].wholeMatch(of: #/libfuse 3\.\d+\.\d+.*/#) != nil, "\(lines)")
        #expect(lines[5].wholeMatch(of: #/fusermount3 version: 3\.\d+\.\d+.*/#) != nil, "\(lines)")
        #expect(lines[6].wholeMatch(of: #/using FUSE kernel interface version 7\.\d+/#) != nil, "\(lines)")
        let replica = try await run(Programs.replica, "--version")
        #expect(replica.code == 0 && replica.output == "replica \(programVersion)\n" + mount.output, "\(replica)")
    }

    /// The other program may be of another release, or missing.
    @Test func theVersionOfTheOtherProgramIsAsked() async throws {
        let folder = try TemporaryFolder()
        let replica = try await Programs.replicaBesideFakeMount(script: "echo mount.replica 9.9", in: folder)
        #expect(try await run(replica, "--version").output == "replica \(programVersion)\nmount.replica 9.9\n")
        try FileManager.default.removeItem(atPath: "\(folder.path)/bin/mount.replica")
        let alone = try await run("/usr/bin/env", ["unshare", "--mount", "sh", "-c", Self.alone, "sh", replica])
        #expect(alone.code == 0 && alone.output.hasPrefix("replica \(programVersion)\n"), "\(alone)")
        let line = "mount.replica was found neither next to this program nor in /sbin"
        #expect(alone.output.hasSuffix("\(line)\n"), "\(alone)")
    }

    /// An installed program of the machine is hidden.
    private static let alone = """
        for file in /sbin/mount.replica /usr/local/sbin/mount.replica; do [ ! -e "$file" ] || mount --bind /dev/null "$file"; done
        exec "$1" --version
        """

    @Test func documentsNameTheCurrentVersions() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs")
        func page(_ name: String) throws -> String {
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        #expect(try page("STORE_PROTOCOL.md").hasPrefix("# replica store \(storeProtocolVersion)\n"))
        #expect(try page("CONTROL.md").contains("- `protocol` is \(controlProtocolVersion)."))
        #expect(try page("JSON.md").contains("\nThis is version \(jsonVersion)"))
    }
}
