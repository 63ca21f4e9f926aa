import Foundation
import ReplicaTestSupport
import SystemPackage

/// The programs built with these tests.
enum Programs {
    /// The folder of the test bundle.
    static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    static var replica: String { folder.appending(path: "replica").path }
    static var mount: String { folder.appending(path: "mount.replica").path }

    /// `replica` with its domains in a test's folder.
    static func replica(_ arguments: String..., in folder: TemporaryFolder) async throws -> ProgramResult {
        try await run(replica, arguments, environment: ["XDG_DATA_HOME": folder.path.string])
    }

    /// A copy of `replica` beside a `mount.replica` that is a shell script, which writes its arguments to
    /// `FOLDER/arguments`, one a line.
    ///
    /// Both are written by another process: a program that any thread of this one has open for writing can't be run by
    /// a child that was forked meanwhile (ETXTBSY).
    static func replicaBesideFakeMount(script: String, in folder: TemporaryFolder) async throws -> String {
        let text = try folder.write(
            """
            #!/bin/sh
            for word; do printf '%s\\n' "$word"; done >'\(folder.path)/arguments'
            \(script)
            """, to: "script")
        let bin = try folder.makeFolder("bin")
        for (source, name) in [(text.string, "mount.replica"), (replica, "replica")] {
            let result = try await run("/usr/bin/install", "-m", "755", source, "\(bin)/\(name)")
            if result.code != 0 { throw POSIXError(.EIO) }
        }
        return "\(bin)/replica"
    }
}

extension ProgramResult {
    /// Whether it failed properly: with this status, nothing on standard output, and one line on standard error.
    func isOneClearLine(code: Int32, containing text: String) -> Bool {
        self.code == code && output.isEmpty && errors.contains(text) && errors.hasSuffix("\n")
            && errors.dropLast().allSatisfy { $0 != "\n" }
    }
}
