import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
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
        ("status evil-", "evil-name"), ("pin phr", "phrases.txt"), ("remove music --keep dow", "downloaded"),
        ("resolved notA", "notAuthenticated"),
    ]

    /// Names with everything that a shell gives a meaning to, and how each is found: by its beginning, quoted or not.
    private static let names = [
        "with space.txt", "notes (conflict 2026-11-28).txt", "it's.txt", #"quote"mark.txt"#, "price$HOME.txt",
        "back\\slash.txt",
        "evil$(touch pwned)", "tick`touch pwned`", "semi;touch pwned;", "star*.txt", "~tilde.txt",
        "deep folder/two words.txt",
    ]

    /// What is typed, and the word that the shell makes of the completed line. `HOME` is the folder.
    private static let words = [
        ("with", "with space.txt"), (#"with\ sp"#, "with space.txt"), (#""with s"#, "with space.txt"),
        ("'wi", "with space.txt"),
        ("notes", "notes (conflict 2026-11-28).txt"), (#"notes\ \(con"#, "notes (conflict 2026-11-28).txt"),
        ("it", "it's.txt"), (#""it"#, "it's.txt"), ("quo", #"quote"mark.txt"#), ("pri", "price$HOME.txt"),
        ("'pri", "price$HOME.txt"),
        ("bac", #"back\slash.txt"#), ("evil", "evil$(touch pwned)"), (#""evil"#, "evil$(touch pwned)"),
        ("tick", "tick`touch pwned`"),
        ("semi", "semi;touch pwned;"), ("star", "star*.txt"), (#"\~t"#, "~tilde.txt"),
        (#"deep\ folder/tw"#, "deep folder/two words.txt"),
        (#"~/deep\ folder/tw"#, "HOME/deep folder/two words.txt"), ("~/wi", "HOME/with space.txt"),
        ("~daemon/../lib/os-rel", "/usr/sbin/../lib/os-release"),
        (#"$HOME/deep\ folder/tw"#, "HOME/deep folder/two words.txt"), ("$HOME/wi", "HOME/with space.txt"),
        (#"music\ a"#, "music and more"), ("musi", "music and more"),
    ]

    /// In bash, where what is offered in double quotes keeps their variables.
    private static let wordsInQuotes = [
        (#""$HOME/wi"#, "HOME/with space.txt"), (#""${HOME}/deep folder/tw"#, "HOME/deep folder/two words.txt"),
        (#""$HOME/pri"#, "HOME/price$HOME.txt"), (#""$HOME/price\$H"#, "HOME/price$HOME.txt"),
        (#""$HOME/quo"#, #"HOME/quote"mark.txt"#), (#""$HOME/bac"#, #"HOME/back\slash.txt"#),
        (#""$HOME/tick"#, "HOME/tick`touch pwned`"), (#""$HOME/evil"#, "HOME/evil$(touch pwned)"),
    ]

    @Test(arguments: ["bash", "zsh", "fish"])
    func domainsPathsAndOptionsAreCompleted(shell: String) async throws {
        let folder = try TemporaryFolder()
        for name in ["photos", "music"] { try Self.makeDomain(name, in: folder) }
        try folder.write("", to: "phrases.txt")
        // Names of files from other users are never executed.
        try folder.write("", to: "evil-name")
        for name in ["evil$(touch pwned)", "evil`touch pwned`", "evil;touch pwned;"] { try folder.write("", to: name) }
        try await Self.press(Self.typed, shell, in: folder)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func namesOfEveryKindAreCompletedAsTheyAre(shell: String) async throws {
        let folder = try TemporaryFolder()
        try Self.makeDomain("music and more", in: folder)
        try folder.makeFolder("deep folder")
        for name in Self.names { try folder.write("", to: name) }
        let words = Self.words + (shell == "bash" ? Self.wordsInQuotes : [])
        let typed = words.map { typed, word in
            ("status \(typed)", "=" + (word.hasPrefix("HOME/") ? "\(folder.path)" + word.dropFirst(4) : word))
        }
        try await Self.press(typed, shell, in: folder)
    }

    private static func makeDomain(_ name: String, in folder: TemporaryFolder) throws {
        try folder.makeFolder("replica/\(name)/tree")
        try folder.write(
            #"{"format":1,"name":"\#(name)","store":"file:///nowhere","options":[]}"#,
            to: "replica/\(name)/domain.json")
        #expect(chmod("\(folder.path)/replica/\(name)", 0o700) == 0)
    }

    /// In the folder, which is the home folder too.
    private static func press(_ typed: [(String, String)], _ shell: String, in folder: TemporaryFolder) async throws {
        let (start, setup) = try #require(shells[shell])
        let path = Programs.folder.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        let result = try await run(
            "/usr/bin/env",
            ["--chdir=\(folder.path)", "python3", driver, setup] + typed.flatMap { [$0.0, $0.1] } + ["--"] + start,
            environment: [
                "XDG_DATA_HOME": folder.path.string, "HOME": folder.path.string, "PATH": path, "TERM": "dumb",
            ])
        #expect(result.code == 0 && result.output.hasSuffix("all are completed\n"), "\(result)")
        #expect(access("\(folder.path)/pwned", F_OK) != 0, "a name was run")
    }

    /// Every error that the user can resolve is offered.
    @Test func onlyResolvableErrorsAreCompleted() async throws {
        let script = try await run(Programs.replica, "--generate-completion-script", "bash")
        for code in Domain.resolvable { #expect(script.output.contains(code), "\(code)") }
    }
}
