import Foundation
import ReplicaTestSupport
import Synchronization
import Testing

/// The daemon is killed in the middle of the upload of a large file; the next one sends only the rest. A proxy in the tests'
/// process counts the bytes.
@Suite struct ContinuedUploadTests {
    /// How many parts pass before the daemon is killed.
    private static let first = 9

    /// The requests with a part of a file, and their bytes.
    private final class Count: Sendable {
        private let sum = Mutex((parts: 0, bytes: 0))

        /// - Parameter isPart: Whether the path of a PUT is that of a part.
        func proxy(_ trial: Trial, _ isPart: @escaping @Sendable (String) -> Bool) throws -> HTTPFaultProxy {
            let file = trial.folder + "/upstream"
            let upstream: @Sendable () -> UInt16? = {
                (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { UInt16($0.filter(\.isNumber)) }
            }
            return try HTTPFaultProxy(to: upstream) { [self] request in
                guard request.words.first == "PUT", request.words.count > 1, isPart(request.words[1]) else {
                    return nil
                }
                let parts = sum.withLock { sum in
                    sum.parts += 1
                    sum.bytes += Int(request["content-length"] ?? "") ?? 0
                    return sum.parts
                }
                // The others are held until the daemon was killed; the server gets them then, like from a slow network.
                for _ in 0..<10_000
                where parts > ContinuedUploadTests.first && access(trial.folder + "/killed", F_OK) != 0 {
                    usleep(20_000)
                }
                return nil
            }
        }

        var sent: Int { sum.withLock { $0.bytes } }
    }

    /// Kills the daemon when the first parts have arrived, and lets the next one finish.
    private static func script(_ size: Int, url: String) -> String {
        """
        head -c \(size) /dev/urandom >"$SRC/large"
        replica import d "$SRC" --store "\(url)" >/dev/null
        mount_it
        has_begun() { [ "$(acknowledged)" -ge \(first) ]; }
        in_time has_begun
        kill_daemon
        equal "$(acknowledged)" \(first)
        touch killed
        mount_it
        settle
        theirs large | cmp - "$MNT/large"
        umount "$MNT"
        end_daemon
        """
    }

    /// More than the 256 MiB that Ceph gets in one piece.
    @Test func anUploadToABucketIsContinuedAfterAKill() async throws {
        let (size, part, count) = (272 << 20, 16 << 20, Count())
        try await Trial.run { trial in
            let proxy = try count.proxy(trial) { $0.contains("/large?") && $0.contains("partNumber=") }
            defer { proxy.close() }
            let script = """
                make_bucket
                echo "${endpoint##*:}" >upstream
                acknowledged() {
                    cat "$STATE"/store/parts/* 2>/dev/null |
                        python3 -c 'import json, sys; print(len(json.load(sys.stdin)["unfinished"]["parts"]))' 2>/dev/null || echo 0
                }
                \(Self.script(size, url: "s3://bucket/some/folder?endpoint=http://127.0.0.1:\(proxy.port)"))
                """
            try await trial.shell(BucketStoreTests.words + "\nin_namespace <<'END'\n\(script)\nEND")
            // Those that were held, four at most, are sent twice; those that had arrived are not.
            #expect(count.sent >= size && count.sent <= size + 5 * part, "\(count.sent)")
        }
    }
}
