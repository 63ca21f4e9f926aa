import Foundation
import Glibc
import ReplicaModel
import SystemPackage
import Testing

/// The completions of the shells when the user presses Tab, on a terminal.
@Suite struct CompletionTests {
    /// How each shell is started, and how it loads the output of `replica --generate-completion-script`.
    private static let shells: [String: (start: [String], setup: String)] = [
        "bash": (
            ["bash", "--norc", "--noprofile", "-i"], "source <(replica --generate-completion-script bash)"
        ),
        "zsh": (
            ["zsh", "-f", "-i"],
            """
            replica --generate-completion-script zsh >"$HOME/_replica"; fpath=("$HOME" $fpath); \
            autoload -U compinit; compinit -u -D
            """
        ),
        "fish": (
            ["fish", "--no-config", "--interactive"], "replica --generate-completion-script fish | source"
        ),
    ]

    private static let driver = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Support/press-tab.py").path

    /// The text before Tab, and the resulting line.
    private static let typed = [
        ("unp", "unpin"), ("approve phot", "photos"), ("status phr", "phrases.txt"), ("status phot", "photos"),
        ("status evil", "evil-name"), ("pin phr", "phrases.txt"), ("remove music --keep dow", "downloaded"),
        ("resolved notA", "notAuthenticated"),
    ]

    @Test(arguments: ["bash", "zsh", "fish"])
    func domainsFilesAndWordsAreCompleted(shell: String) async throws {
        let (start, setup) = try #require(Self.shells[shell])
        let folder = try TemporaryFolder()
        for name in ["photos", "music"] {
            try folder.makeFolder("replica/\(name)/tree")
            try folder.write(
                #"{"format":1,"name":"\#(name)","store":"file:///nowhere","options":[]}"#,
                to: "replica/\(name)/domain.json")
            #expect(chmod("\(folder.path)/replica/\(name)", 0o700) == 0)
        }
        try folder.write("", to: "phrases.txt")
        // Names of files from other users are never executed.
        try folder.write("", to: "evil-name")
        for name in ["evil$(touch pwned)", "evil`touch pwned`", "evil;touch pwned;"] { try folder.write("", to: name) }
        let path = Programs.folder.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        let result = try await run(
            "/usr/bin/env",
            ["--chdir=\(folder.path)", "python3", Self.driver, setup] + Self.typed.flatMap { [$0.0, $0.1] }
                + ["--"] + start,
            environment: [
                "XDG_DATA_HOME": folder.path.string, "HOME": folder.path.string, "PATH": path, "TERM": "dumb",
            ])
        #expect(result.code == 0 && result.output.hasSuffix("all are completed\n"), "\(result)")
        #expect(access("\(folder.path)/pwned", F_OK) != 0, "a name was run")
    }

    /// Every error that the user can resolve is offered.
    @Test func theErrorsAreThoseThatCanBeResolved() async throws {
        let script = try await run(Programs.replica, "--generate-completion-script", "bash")
        for code in Domain.resolvable { #expect(script.output.contains(code), "\(code)") }
    }
}
