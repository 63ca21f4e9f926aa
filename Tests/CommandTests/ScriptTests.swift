import Foundation
import Testing

/// bash parses the scripts (and shellcheck checks them if it is installed), and they reject unknown arguments.
@Suite(.serialized) struct ScriptTests {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static let scripts: [String] = {
        let folder = root.appending(path: "scripts")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { "scripts/" + $0 } + [".ci/run"]
    }()

    @Test func scriptsAreFound() {
        #expect(Self.scripts.contains("scripts/test"))
    }

    @Test(arguments: scripts) func everyScriptParses(script: String) async throws {
        let result = try await run("/bin/bash", "-n", Self.root.appending(path: script).path)
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test(arguments: scripts) func everyScriptPassesShellcheck(script: String) async throws {
        let shellcheck = "/usr/bin/shellcheck"
        guard FileManager.default.isExecutableFile(atPath: shellcheck) else { return }
        let result = try await run(shellcheck, "-x", "-P", "SCRIPTDIR", Self.root.appending(path: script).path)
        #expect(result.code == 0, "\(result.output)")
    }

    @Test(arguments: [["--frob"], ["a", "b", "c"]]) func runRejectsUnknownArguments(arguments: [String]) async throws {
        let result = try await run(Self.root.appending(path: "scripts/run").path, arguments)
        #expect(result.isOneClearLine(code: 1, containing: "usage: scripts/run [DIR [MOUNTPOINT]]"), "\(result)")
    }

    @Test func installRejectsUnknownArguments() async throws {
        let result = try await run(Self.root.appending(path: "scripts/install").path, "--prefx", "/nowhere")
        #expect(result.code == 1)
        #expect(result.errors.split(separator: "\n").count == 1)
        #expect(result.errors.contains("--prefx"))
    }
}
