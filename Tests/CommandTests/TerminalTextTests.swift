import ChildProcess
import Foundation
import Glibc
import ReplicaControl
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica
@testable import replica

/// Names and texts of stores and users in lines for people: no line can be forged, and no terminal takes a part of it for a
/// command.
@Suite struct TerminalTextTests {
    /// C0, DEL, C1 (CSI), a line and a paragraph separator, an override of the writing direction, an isolate, a soft hyphen.
    private static let harmful: [Unicode.Scalar] = [
        "\0", "\t", "\n", "\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\u{2028}", "\u{2029}", "\u{202E}", "\u{2066}",
        "\u{AD}",
        "\u{FEFF}",
    ]

    @Test(arguments: harmful) func allOutputsUseOneFilter(scalar: Unicode.Scalar) throws {
        let text = "a\(scalar)b"
        #expect(SanitizedText.of(Array(text.utf8)) == "a b")
        #expect(Format.path(Array(text.utf8)) == "a?b")
        #expect(throws: DomainNameError.forbidden(scalar)) { try DomainName(text) }
        if scalar.properties.generalCategory != .format {
            #expect(throws: StoreURLError.notURL) { try StoreURL("file:///\(text)") }
            #expect(throws: StoreURLError.notURL) { try StoreURL("rclone:a:\(text)") }
        }
        #expect(NotifySocket.status(text) == "STATUS=a?b")
    }

    /// Joiners are parts of words and of emoji.
    @Test(arguments: ["می\u{200C}خواهم", "👩\u{200D}🚀", "ü e\u{301} 日本"]) func printableCharactersAreKept(text: String)
        throws
    {
        #expect(SanitizedText.of(Array(text.utf8)) == text && Format.path(Array(text.utf8)) == text)
        #expect(try DomainName(text).text == text)
        #expect(try StoreURL("rclone:a:\(text)").rest == "a:\(text)")
    }

    @Test func ofControlCharactersOnlyTabsAreKept() {
        #expect(Format.line("a\tb\u{1B}]0;x\u{7}\nc\u{202E}") == "a\tb?]0;x??c?")
    }

    @Test func theDetailOfAnEventIsOneLine() async throws {
        let domain = try FakeDomain { request, events in
            let change = ChangeEvent(date: MessageTests.date, kind: "error", detail: "a\u{1B}[2Jb\nc\u{9B}d\u{202E}")
            if request == .watch { try await events.send(.change(change)) }
            return .done
        }
        let watch = try await Programs.replica("watch", in: domain.folder)
        #expect(watch.output == "2023-11-14T22:13:20Z failed a?[2Jb?c?d?\n", "\(watch)")
        try await domain.stop()
    }

    @Test(arguments: ["pin", "unpin", "download", "resend", "wait"])
    func namesOfUsersStayOnOneLine(command: String) async throws {
        let domain = try FakeDomain { _, _ in .done }
        let result = try await Programs.replica(command, "photos:a\u{1B}[2Jb\nc", in: domain.folder)
        #expect(result.output.hasPrefix("photos:a?[2Jb?c is ") && result.code == 0, "\(result)")
        try await domain.stop()
    }

    @Test func outputOfMountIsOneLine() async throws {
        let folder = try TemporaryFolder()
        let result = try await run(
            Programs.mount, "d", "/", "-o", "x\u{1B}[2J\nmount.replica: fine\u{202E}",
            environment: ["XDG_DATA_HOME": folder.path.string])
        #expect(result.isOneClearLine(code: 1, containing: "'x [2J mount.replica: fine '"), "\(result)")
        #expect(result.errors.dropLast().unicodeScalars.allSatisfy(SanitizedText.isHarmless))
    }
}
