import ChildProcess
import Glibc
import HTTPStorage

extension RcloneProgram {
    /// The oldest supported version: earlier ones have vulnerabilities and no sockets (docs/decisions/rclone-store.md).
    static let oldest = (1, 75)
    static let versionAdvice = "version 1.75 or newer is needed: https://rclone.org/downloads"

    /// Why its server ended before it was ready: an old rclone is recognized by its version.
    func complaint(_ end: RcloneProcess.End) async -> ServerFailure {
        let run = RcloneProcess(call(["version"]))
        for _ in 0..<200 where run.end == nil {
            // A cancelled task stops waiting.
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        run.stop(SIGKILL)
        if let text = run.end?.output.split(separator: " ").dropFirst().first, text.hasPrefix("v"),
            let refusal = Self.refusal(of: String(text))
        {
            return refusal
        }
        return .unreachable("rclone can't be started: \(end.lastLine)")
    }

    /// - Parameter version: In rclone's form: `v1.75.2`.
    /// - Returns: Nil if it is new enough.
    static func refusal(of version: String) -> ServerFailure? {
        let numbers = version.drop { $0 == "v" }.split { !$0.isNumber }.prefix(2).map { Int($0) ?? 0 }
        guard numbers.count == 2, (numbers[0], numbers[1]) < oldest else { return nil }
        return .refused("rclone is too old: it is \(SanitizedText.of(version, longest: 40)), and \(versionAdvice)")
    }
}
