import Foundation
import Glibc
import ReplicaControl
import ReplicaTestSupport
import SystemPackage
import Testing

/// `replica remove --all`: its question, and the domains that it never touches.
@Suite(.serialized) struct RemoveAllTests {
    @Test func withoutATerminalItNeedsYes() async throws {
        let folder = try TemporaryFolder()
        let domains = try ["a", "b"].map { name in try FakeDomain(name, in: folder) { _, _ in .done } }
        for (arguments, line) in [
            ([], "this would remove 2 domains: a, b; pass --yes to do it"),
            (
                ["--keep", "none"],
                "this would remove 2 domains: a, b, and edits that are not in the store are lost; pass --yes to do it"
            ),
        ] as [([String], String)] {
            let result = try await run(
                Programs.replica, ["remove", "--all"] + arguments, environment: domains[0].environment)
            #expect(result.code == ExitReason.usage.rawValue && result.output == "", "\(result)")
            #expect(result.errors == "replica: \(line)\n")
        }
        #expect(domains.allSatisfy { $0.service.requests.isEmpty })
        for domain in domains { try await domain.stop() }
    }

    @Test func withoutDomainsNothingIsAsked() async throws {
        let result = try await Programs.replica("remove", "--all", in: try TemporaryFolder())
        #expect(result.code == 0 && result.output == "" && result.errors == "", "\(result)")
    }

    @Test(arguments: [("y", true), ("Yes", true), ("n", false), ("", false), ("nonsense", false)])
    func aTerminalIsAsked(answer: String, isMeant: Bool) async throws {
        let domain = try FakeDomain { _, _ in .done }
        // script(1) gives it a terminal; its output and the typed text come as one text.
        let command = "echo '\(answer)' | script -qec \"'\(Programs.replica)' remove --all\" /dev/null"
        let result = try await run("/bin/bash", "-c", command, environment: domain.environment)
        #expect(result.output.contains("remove 1 domain: photos? [y/N] "), "\(result)")
        #expect(result.code == (isMeant ? 0 : ExitReason.interrupted.rawValue), "\(result)")
        #expect(result.output.contains(isMeant ? "photos is removed" : "replica: nothing was removed"), "\(result)")
        #expect(domain.service.requests == (isMeant ? [.remove(keep: .dirty)] : []))
        try await domain.stop()
    }

    /// Creates a domain in the machine's standard folders, in a mount namespace where these are temporary ones.
    private static let withCanary = #"""
        set -e
        mount -t tmpfs none /var/lib
        mount -t tmpfs none /mnt
        export HOME=/mnt
        for state in /var/lib/replica/canary /mnt/.local/share/replica/canary; do
            mkdir -p $state/tree; chmod 700 $state
            echo '{"format":1,"name":"canary","store":"file:///srv/canary","options":[]}' >$state/domain.json
        done
        """#

    private func besideCanary(_ script: String, environment: [String: String] = [:]) async throws -> ProgramResult {
        let words = ["--mount", "/bin/bash", "-c", Self.withCanary + script, Programs.replica]
        return try await run("/usr/bin/unshare", words, environment: environment)
    }

    @Test(.enabled(if: geteuid() == 0)) func theMachinesOwnDomainsAreNotReached() async throws {
        // Without a folder of its own it sees the canary: the namespace works.
        let seen = try await besideCanary("\nunset XDG_DATA_HOME\nexec \"$0\" list")
        #expect(seen.output == "canary\tstopped\tfile:///srv/canary\t-\n", "\(seen)")
        // The way in which the suite runs programs, alone and for its own domains.
        let unset = try await besideCanary("\nexec \"$0\" list")
        #expect(unset.code == 0 && unset.output == "", "\(unset)")
        let domain = try FakeDomain { _, _ in .done }
        let worst = try await besideCanary(
            "\n\"$0\" remove --all --yes --keep none\nls -d /var/lib/replica/* /mnt/.local/share/replica/*",
            environment: domain.environment)
        #expect(
            worst.output == "photos is removed\n/mnt/.local/share/replica/canary\n/var/lib/replica/canary\n", "\(worst)"
        )
        try await domain.stop()
    }
}
