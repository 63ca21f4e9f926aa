import Foundation
import ReplicaControl
import SystemPackage
import Testing

@testable import mount_replica

/// The manual pages list exactly the options that the programs accept.
@Suite struct ManualTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "man")

    static func page(_ name: String) throws -> [String] {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8).components(separatedBy: "\n")
    }

    /// The names in the list of a section, such as `.It Cm cache-max= Ns Ar size` and `.It Cm ro , rw`, and whether each has a
    /// value. A name that is there twice is reported.
    static func listed(in section: String, of name: String) throws -> [String: Bool] {
        let lines = try page(name).drop { $0 != section }.dropFirst()
        var found: [String: Bool] = [:]
        for line in lines.prefix(while: { !$0.hasPrefix(section.prefix(4)) }) where line.hasPrefix(".It Cm ") {
            let words = line.dropFirst(7).split(separator: " ").map(String.init)
            let isAssigned = words[0].hasSuffix("=")
            for word in isAssigned ? [String(words[0].dropLast())] : words.filter({ $0 != "," }) {
                #expect(found.updateValue(isAssigned, forKey: word) == nil, "twice: \(word)")
            }
        }
        return found
    }

    /// `.Fl -store`, `.Fl o`: flags in the form in which they are typed.
    private static func flags(in lines: some Sequence<String>) -> Set<String> {
        Set(
            lines.filter { $0.hasPrefix(".") }.flatMap { line in
                line.matches(of: #/\bFl (-?)([A-Za-z][\w-]*)/#).map { "-\($0.1)\($0.2)" }
            })
    }

    @Test func everyCommandAndItsOptionsAreDocumented() async throws {
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

    private static let ofDomains = Dictionary(
        uniqueKeysWithValues: StoredDomainOptions.Name.allCases.map { ($0.rawValue, $0.takesValue) })
    private static let ofMounts = Dictionary(
        uniqueKeysWithValues: MountOptions.Name.allCases.map { ($0.rawValue, $0.takesValue) })

    /// The page lists what the parser declares, no more and no less.
    @Test func everyOptionOfAMountIsExplained() throws {
        #expect(try Self.listed(in: ".Sh OPTIONS OF A DOMAIN", of: "mount.replica.8") == Self.ofDomains)
        // "and their opposites".
        let switches = MountOptions.switches.map(\.set) + ["rw"]
        let wanted = Self.ofMounts.merging(switches.map { ($0, false) }) { one, _ in one }
        #expect(try Self.listed(in: ".Sh OPTIONS OF A MOUNT", of: "mount.replica.8") == wanted)
        let flags = Self.flags(in: try Self.page("mount.replica.8").filter { $0.hasPrefix(".It ") })
        #expect(flags == Set(Invocation.Flag.allCases.map { "-\($0.rawValue)" } + ["--help", "--version"]))
    }

    /// So does `--help`: `  -o cache-max=SIZE, cache-min-free=SIZE   limits ...`.
    @Test func everyOptionOfAMountIsInItsHelp() {
        let all = Self.ofDomains.merging(Self.ofMounts) { one, _ in one }
        let words = Set(Invocation.helpText.split { !($0.isLetter || "_-".contains($0)) }.map(String.init))
        for name in all.keys { #expect(words.contains(name), "\(name)") }
        let known = Set(MountOptions.switches.flatMap { [$0.set, $0.clear] })
        for line in Invocation.helpText.components(separatedBy: "\n") where line.hasPrefix("  -o ") {
            for option in line.dropFirst(5).components(separatedBy: "   ")[0].split(separator: ",") {
                let parts = option.trimmingCharacters(in: .whitespaces).split(separator: " ")[0]
                    .split(separator: "=").map(String.init)
                if parts == ["..."] { continue }
                #expect(all[parts[0]] == (parts.count > 1) || known.contains(parts[0]), "\(option)")
            }
        }
        for flag in Invocation.Flag.allCases where ![.help, .version, .type].contains(flag) {
            #expect(Invocation.helpText.contains(" -\(flag.rawValue) "), "\(flag)")
        }
    }

    @Test func theInternalFormsAreDocumentedInControl() throws {
        let file = Self.folder.deletingLastPathComponent().appending(path: "docs/CONTROL.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        for form in Invocation.Form.allCases { #expect(text.contains("`mount.replica \(form.rawValue) "), "\(form)") }
    }

    @Test func everyEntryOfAStateIsExplained() throws {
        let files = Set(try Self.page("replica-domains.5").compactMap { $0.firstMatch(of: #/^\.It Pa (\S+)$/#)?.1 })
        for entry in StateFileName.allCases { #expect(files.contains(entry.rawValue[...]), "\(entry)") }
        for name in [ControlSocket.name, MountRecord.name] { #expect(files.contains(name.string[...]), "\(name)") }
    }

    @Test func theExitCodesAreThoseOfTheCommand() throws {
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
