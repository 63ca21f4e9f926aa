import Foundation
import Testing

/// replica-domains(5) describes the files of a domain.
@Suite struct StateFileTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "man/replica-domains.5").path

    @Test func theManualNamesEveryFileOfAState() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                begin; echo one >"$MNT/one"; settle
                unnamed() {
                    find "$STATE" -mindepth 1 -maxdepth 1 -printf '%f\n' | sed 's/-\(wal\|shm\)$//' | while read -r file; do
                        grep -qx "\.It Pa $file" '\#(Self.page)' || echo "$file"
                    done | sort
                }
                prints "" unnamed
                """#)
        }
    }
}
