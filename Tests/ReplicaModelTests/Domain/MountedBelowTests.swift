import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// No removal enters a mount, of any filesystem.
@Suite(.enabled(if: geteuid() == 0)) struct MountedBelowTests {
    private static func run(_ words: String...) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test(arguments: ["bind", "tmpfs"]) func aRemovalEntersNoMount(kind: String) throws {
        let scratch = TemporaryFolder.unusedPath()
        let (place, outside) = (scratch.appending("gone/sub/mounted"), scratch.appending("outside"))
        for path in [place, outside] {
            try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
        }
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: scratch.string) } }
        let isMounted =
            try kind == "bind"
            ? Self.run("mount", "--bind", outside.string, place.string)
            : Self.run("mount", "-t", "tmpfs", "none", place.string)
        try #require(isMounted)
        defer { #expect(throws: Never.self) { try Self.run("umount", place.string) } }
        let file = place.appending("file")
        try Data("precious".utf8).write(to: URL(filePath: file.string))
        #expect(throws: Errno.improperLink) { try StateFolders.removeAll(scratch.appending("gone")) }
        #expect(FileManager.default.contents(atPath: file.string) == Data("precious".utf8))
    }
}
