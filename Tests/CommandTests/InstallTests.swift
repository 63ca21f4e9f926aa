import Foundation
import Testing

/// `scripts/install` of programs that are built, into folders of the test's own.
@Suite struct InstallTests {
    private static let script = ScriptTests.root.appending(path: "scripts/install").path

    /// All files and folders below one, in order.
    private static func listing(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }

    private static func install(_ arguments: String..., home: TemporaryFolder) async throws -> ProgramResult {
        try await run(
            script, ["--from", Programs.folder.path] + arguments, environment: ["HOME": home.path.string])
    }

    @Test func allOfItIsInstalledAndNothingIsLeft() async throws {
        let home = try TemporaryFolder()
        // What others have there stays, even an empty folder.
        try home.makeFolder(".local/share/zsh")
        try home.write("mine", to: ".local/share/man/man1/mine.1")
        let before = try Self.listing(home.path.string)
        for _ in 1...2 {
            let result = try await Self.install("--user", home: home)
            #expect(result.code == 0 && !result.output.contains("/sbin/mount.fuse"), "\(result)")
        }
        let installed = try Set(Self.listing("\(home.path)/.local"))
        #expect(
            installed.isSuperset(of: [
                "bin/replica", "sbin/mount.replica", "lib/replica/stores/replica-store-s3", "share/man/man1/replica.1",
                "share/man/man8/mount.replica.8",
                "share/man/man5/replica-domains.5", "share/man/man7/replica-stores.7",
                "share/bash-completion/completions/replica", "share/zsh/site-functions/_replica",
                "share/fish/vendor_completions.d/replica.fish",
            ]), "\(installed)")
        let version = try await run("\(home.path)/.local/bin/replica", "--version")
        #expect(version.code == 0, "\(version)")
        let removed = try await Self.install("--user", "--uninstall", home: home)
        #expect(removed.code == 0, "\(removed)")
        #expect(try Self.listing(home.path.string) == before)
    }

    @Test func aPrefixThatWasMadeGoesToo() async throws {
        let home = try TemporaryFolder()
        let prefix = "\(home.path)/a/prefix of ours"
        let result = try await Self.install("--user", "--prefix", prefix, home: home)
        #expect(result.code == 0, "\(result)")
        #expect(FileManager.default.isExecutableFile(atPath: "\(prefix)/bin/replica"))
        let removed = try await Self.install("--user", "--prefix", prefix, "--uninstall", home: home)
        #expect(removed.code == 0 && removed.output.contains("removed \(prefix)/bin/replica"), "\(removed)")
        #expect(try Self.listing(home.path.string) == [])
    }
}
