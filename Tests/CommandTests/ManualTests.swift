import Foundation
import ReplicaControl
import Testing

@testable import mount_replica

/// The manual pages list exactly the options that the programs accept.
@Suite struct ManualTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "man")

    private static func page(_ name: String) throws -> [String] {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8).components(separatedBy: "\n")
    }

    /// `.Fl -store`, `.Fl o`: flags in the form in which they are typed.
    private static func flags(in lines: some Sequence<String>) -> Set<String> {
        Set(
            lines.filter { $0.hasPrefix(".") }.flatMap { line in
                line.matches(of: #/\bFl (-?)([A-Za-z][\w-]*)/#).map { "-\($0.1)\($0.2)" }
            })
    }

    @Test func everyCommandHasItsSectionWithItsOptions() async throws {
        let dump = try await run(Programs.replica, "--experimental-dump-help")
        let program = try JSONDecoder().decode(HelpDump.self, from: Data(dump.output.utf8)).command
        let everywhere: Set = ["--help", "-h", "--version", "--json"]
        var (pages, current): ([String: Set<String>], String?) = ([:], nil)
        for line in try Self.page("replica.1") {
            if line.hasPrefix(".Ss ") {
                current = String(line.dropFirst(4))
                #expect(pages.updateValue([], forKey: String(line.dropFirst(4))) == nil, "twice: \(line)")
            } else if line.hasPrefix(".Sh ") {
                current = nil
            }
            if let current { pages[current, default: []].formUnion(Self.flags(in: [line])) }
        }
        let commands = (program.subcommands ?? []).filter { $0.commandName != "help" }
        #expect(Set(commands.map(\.commandName)) == Set(pages.keys))
        for command in commands {
            let options = Set((command.arguments ?? []).flatMap { ($0.names ?? []).map(\.typed) })
            #expect(pages[command.commandName] == options.subtracting(everywhere), "\(command.commandName)")
        }
    }

    @Test func everyOptionOfAMountIsExplained() throws {
        let text = try Self.page("mount.replica.8").joined(separator: "\n")
        let words = Set(text.split { !($0.isLetter || "_-".contains($0)) }.map(String.init))
        for (set, _) in MountOptions.switches where set != "rw" { #expect(words.contains(set), "\(set)") }
        // The options in the help text: `  -o cache-max=SIZE, cache-min-free=SIZE   limits ...`.
        var found = 0
        for line in Invocation.helpText.components(separatedBy: "\n") where line.contains("-o ") && line.hasPrefix("  ")
        {
            let options = line.trimmingCharacters(in: .whitespaces).dropFirst(3).components(separatedBy: "  ")[0]
            for option in options.split(separator: ",") {
                let name = option.trimmingCharacters(in: .whitespaces).split(separator: "=")[0]
                if name == "..." { continue }
                found += 1
                #expect(words.contains(String(name)), "\(name)")
            }
        }
        #expect(found > 15)
        let flags = Self.flags(in: try Self.page("mount.replica.8"))
        #expect(flags.isSuperset(of: ["-o", "-s", "-f", "-n", "-v", "-h", "-V", "--help", "--version"]))
    }

    @Test func theExitCodesAreTheCommands() throws {
        let codes = try Self.page("replica.1").compactMap { $0.firstMatch(of: #/^\.It (\d+)$/#) }.compactMap {
            Int32($0.1)
        }
        #expect(codes == ExitReason.allCases.map(\.rawValue))
    }

    /// mandoc(1) and groff(1) report nothing, except for references to manuals that this machine lacks.
    @Test func thePagesAreWellFormed() async throws {
        let script = """
            cd '\(Self.folder.path)' && mandoc -Tlint *.[1-8]
            for page in *.[1-8]; do groff -ww -mandoc -Tutf8 "$page" >/dev/null || exit 9; done
            """
        let result = try await run("/bin/sh", "-c", script)
        let said = (result.output + result.errors).split(separator: "\n")
            .filter { !$0.contains("outdated mandoc.db") && !$0.contains("referenced manual not found") }
        #expect(result.code == 0 && said.isEmpty, "\(result)")
    }
}
