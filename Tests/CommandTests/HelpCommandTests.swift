import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

/// `replica help` leads to the manual pages and to the completion scripts.
@Suite struct HelpCommandTests {
    @Test func helpNamesManualsAndCompletion() async throws {
        let help = try await run(Programs.replica, "help")
        #expect(help.code == 0 && help.output.contains("\n  man "), "\(help)")
        #expect(help.output.contains("\n  completion "))
        for command in ["man", "completion"] {
            let own = try await run(Programs.replica, "help", command)
            #expect(own.code == 0 && own.output.contains("USAGE: replica \(command)"), "\(own)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completionsEqualTheInstalledOnes(shell: String) async throws {
        let printed = try await run(Programs.replica, "completion", shell)
        let installed = try await run(Programs.replica, "--generate-completion-script", shell)
        #expect(printed.code == 0 && printed.output == installed.output && printed.output.count > 1000)
    }

    @Test func anUnknownShellIsReported() async throws {
        let result = try await run(Programs.replica, "completion", "csh")
        #expect(result.isOneClearLine(code: 64, containing: "csh"), "\(result)")
    }

    /// With a man(1) that prints its arguments.
    @Test func pagesAreShown() async throws {
        let folder = try TemporaryFolder()
        let replica = try await Programs.replicaBesideFakeMount(script: "", in: folder)
        try folder.makeFolder("tools")
        try folder.write("#!/bin/sh\necho \"$@\"\n", to: "script")
        _ = try await run("/usr/bin/install", "-m", "755", "\(folder.path)/script", "\(folder.path)/tools/man")
        let tools = ["PATH": "\(folder.path)/tools"]
        #expect(try await run(replica, ["man"], environment: tools).output == "1 replica\n")
        let pages = [("replica", 1), ("mount.replica", 8), ("replica-stores", 7), ("replica-domains", 5)]
        for (page, section) in pages {
            #expect(try await run(replica, ["man", page], environment: tools).output == "\(section) \(page)\n")
            let path = try folder.write("", to: "share/man/man\(section)/\(page).\(section)")
            #expect(try await run(replica, ["man", page], environment: tools).output == "-l \(path)\n")
        }
        let none = try await run(replica, ["man"], environment: ["PATH": "\(folder.path)"])
        #expect(none.isOneClearLine(code: 1, containing: "man: No such file"), "\(none)")
    }
}
