import Foundation
import Glibc
import ReplicaTestSupport
import Testing

/// Random system calls have the same results on the mount and in a plain folder on the same disk.
@Suite struct RandomCallTests {
    @Test(arguments: 1...8) func callsEndAsOnAPlainFolder(seed: Int) async throws {
        try await Trial.run { trial in
            try await trial.shell("begin; mkdir plain")
            let (mount, plain) = (trial.mount, trial.folder + "/plain")
            let difference = try await onThread { Self.compare(mount, plain, UInt64(seed)) }
            if let difference { Issue.record("seed \(seed): \(difference)") }
            // The whole tree once more, compared with standard tools.
            try await trial.shell(
                """
                look() { (cd "$1" && find . -mindepth 1 -printf '%P %y %m %n %U:%G %l\\n' | sort) }
                plain=$(look plain); prints "$plain" look "$MNT"
                rm -rf "$MNT"/* "$MNT"/.[!.]*
                """)
        }
    }

    private static func compare(_ mount: String, _ plain: String, _ seed: UInt64) -> String? {
        var random = SeededGenerator(seed)
        let (ours, native) = (Caller(mount), Caller(plain))
        var recent: [String] = []
        for number in 1...400 {
            let call = random.call()
            let (left, right) = (ours.make(call), native.make(call))
            recent.append("\("\(call)".prefix(300)): \(right.prefix(200))")
            if left != right {
                return "call \(number): \(left)\nnative: \(right)\n\(recent.suffix(25).joined(separator: "\n"))"
            }
        }
        return nil
    }
}
