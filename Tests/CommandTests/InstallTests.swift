import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

/// `scripts/install` with built programs, into temporary folders.
@Suite struct InstallTests {
    private static let script = ScriptTests.root.appending(path: "scripts/install").path

    /// All files and folders below a folder, in order.
    private static func listing(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }

    private static func install(_ arguments: String..., home: TemporaryFolder) async throws -> ProgramResult {
        try await run(
            script, ["--from", Programs.folder.path] + arguments, environment: ["HOME": home.path.string])
    }

    @Test func everythingIsInstalledAndRemoved() async throws {
        let home = try TemporaryFolder()
        // Foreign files stay, even an empty folder.
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
                "bin/replica", "sbin/mount.replica", "lib/replica/stores/replica-store-s3",
                "lib/replica/stores/replica-store-webdav", "lib/replica/stores/replica-store-rclone",
                "share/man/man1/replica.1",
                "share/man/man8/mount.replica.8",
                "share/man/man5/replica-domains.5", "share/man/man7/replica-stores.7",
                "share/bash-completion/completions/replica", "share/zsh/site-functions/_replica",
                "share/fish/vendor_completions.d/replica.fish", "share/systemd/user/replica@.service",
            ]), "\(installed)")
        let version = try await run("\(home.path)/.local/bin/replica", "--version")
        #expect(version.code == 0, "\(version)")
        let removed = try await Self.install("--user", "--uninstall", home: home)
        #expect(removed.code == 0, "\(removed)")
        #expect(try Self.listing(home.path.string) == before)
    }

    @Test func aCreatedPrefixIsRemoved() async throws {
        let home = try TemporaryFolder()
        let prefix = "\(home.path)/a/prefix of öurs & 100%|"
        let result = try await Self.install("--user", "--prefix", prefix, home: home)
        #expect(result.code == 0, "\(result)")
        #expect(FileManager.default.isExecutableFile(atPath: "\(prefix)/bin/replica"))
        // The unit runs the installed program, even with spaces in its path.
        let unit = "\(prefix)/share/systemd/user/replica@.service"
        let runtime = try TemporaryFolder()
        let verified = try await run(
            "/usr/bin/systemd-analyze", "--user", "--man=no", "verify", unit,
            environment: ["XDG_RUNTIME_DIR": runtime.path.string])
        #expect(verified.code == 0 && verified.errors.isEmpty, "\(verified)")
        let removed = try await Self.install("--user", "--prefix", prefix, "--uninstall", home: home)
        #expect(removed.code == 0 && removed.output.contains("removed \(prefix)/bin/replica"), "\(removed)")
        #expect(try Self.listing(home.path.string) == [])
    }

    /// Root removes nothing that is named in a list that another user could have written.
    @Test func onlyFoldersOfThePrefixAreRemoved() async throws {
        let home = try TemporaryFolder()
        let prefix = "\(home.path)/prefix"
        _ = try await Self.install("--user", "--prefix", prefix, home: home)
        for folder in ["outside", "elsewhere/empty", "prefix/own"] { try home.makeFolder(folder) }
        try FileManager.default.createSymbolicLink(
            atPath: "\(prefix)/link", withDestinationPath: "\(home.path)/elsewhere")
        let list = "\(prefix)/share/replica/folders"
        let noted = try String(contentsOfFile: list, encoding: .utf8)
        let more = [
            "\(home.path)/outside", "\(prefix)/../outside", "\(prefix)/link/empty", "\(prefix)/own", "outside", "",
        ]
        try (noted + more.joined(separator: "\n") + "\n").write(toFile: list, atomically: false, encoding: .utf8)
        let removed = try await Self.install("--user", "--prefix", prefix, "--uninstall", home: home)
        #expect(removed.code == 0, "\(removed)")
        #expect(
            try Self.listing(home.path.string) == ["elsewhere", "elsewhere/empty", "outside", "prefix", "prefix/link"])
    }

    /// As root, over a temporary /usr: the helper where mount(8) searches, the units, and a capability that the kernel
    /// accepts.
    @Test func rootInstallsWhatOnlyRootCan() async throws {
        let home = try TemporaryFolder()
        let script = #"""
            set -e
            mount -t tmpfs none "$HOME"; mkdir "$HOME/up" "$HOME/work"
            mount -t overlay -o "lowerdir=/usr,upperdir=$HOME/up,workdir=$HOME/work" overlay /usr
            rm -f /usr/sbin/mount.replica /usr/sbin/mount.fuse.replica
            mount -t tmpfs none /etc/fish; mkdir /etc/fish/completions
            listing() { find /usr/local /usr/sbin /etc/fish | sort; }
            listing >"$HOME/before"
            "$1" --from "$2" >"$HOME/said"
            test "$(readlink /sbin/mount.replica)" = /usr/local/sbin/mount.replica
            test "$(readlink /sbin/mount.fuse.replica)" = /usr/local/sbin/mount.replica
            test "$(readlink /etc/fish/completions/replica.fish)" = /usr/local/share/fish/vendor_completions.d/replica.fish
            getcap /usr/local/libexec/replica-passthrough | grep -q 'cap_sys_admin=ep'
            test "$(stat -c '%U %G %a' /usr/local/libexec/replica-passthrough)" = "root root 755"
            systemd-analyze --man=no verify /usr/local/lib/systemd/system/replica@.service
            grep -q '^ExecStart=:/usr/local/sbin/mount.replica --serve %I' /usr/local/lib/systemd/user/replica@.service
            "$1" --from "$2" >>"$HOME/said"
            "$1" --uninstall >>"$HOME/said"
            listing | diff "$HOME/before" -
            # Of two installations, mount(8) runs the last one; without it, the first again, and without both, none.
            mkdir "$HOME/other"
            "$1" --from "$2" >>"$HOME/said"
            for _ in 1 2; do "$1" --prefix "$HOME/other" --from "$2" >>"$HOME/said"; done
            test "$(readlink /sbin/mount.replica)" = "$HOME/other/sbin/mount.replica"
            "$1" --prefix "$HOME/other" --uninstall >>"$HOME/said"
            test -z "$(ls -A "$HOME/other")"
            for link in /sbin/mount.replica /sbin/mount.fuse.replica; do test "$(readlink "$link")" = /usr/local/sbin/mount.replica; done
            "$1" --prefix "$HOME/other" --from "$2" >>"$HOME/said"
            "$1" --uninstall >>"$HOME/said"
            test "$(readlink /sbin/mount.replica)" = "$HOME/other/sbin/mount.replica"
            "$1" --prefix "$HOME/other" --uninstall >>"$HOME/said"
            rmdir "$HOME/other"
            listing | diff "$HOME/before" -
            # What somebody else has there stays.
            echo theirs >/etc/fish/completions/replica.fish
            "$1" --from "$2" >>"$HOME/said"
            "$1" --uninstall >>"$HOME/said"
            test "$(cat /etc/fish/completions/replica.fish)" = theirs
            """#
        let result = try await run(
            "/usr/bin/unshare",
            ["-m", "--propagation", "private", "bash", "-c", script, "bash", Self.script, Programs.folder.path],
            environment: ["HOME": home.path.string])
        #expect(result.code == 0, "\(result)")
    }
}
