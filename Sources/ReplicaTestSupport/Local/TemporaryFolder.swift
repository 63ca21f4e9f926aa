internal import Foundation
internal import Glibc
package import SystemPackage

/// A folder for one test, removed with its last reference. `scripts/test` cleans up its name after a crash.
package final class TemporaryFolder: Sendable {
    package let path: FilePath

    /// - Parameters:
    ///   - parent: Determines the filesystem.
    ///   - mode: Its permission bits.
    package init(in parent: String = "/var/tmp", mode: Int = 0o700) throws {
        path = Self.unusedPath(in: parent)
        try FileManager.default.createDirectory(
            atPath: path.string, withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
    }

    /// The path of a folder that the caller or a program creates and removes.
    package static func unusedPath(in parent: String = "/var/tmp") -> FilePath {
        FilePath("\(parent)/replica-test-\(getpid())-\(UInt64.random(in: 0 ... .max))")
    }

    deinit {
        // Anything that can't be removed is left to scripts/test.
        try? FileManager.default.removeItem(atPath: path.string)
    }

    /// Creates a folder and its parents.
    @discardableResult package func makeFolder(_ name: String) throws -> FilePath {
        let folder = path.appending(name)
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        return folder
    }

    /// Writes a file, creating its parent folders.
    @discardableResult package func write(_ text: String, to name: String, mode: Int = 0o644) throws -> FilePath {
        let file = path.appending(name)
        try makeFolder(FilePath(name).removingLastComponent().string)
        try Data(text.utf8).write(to: URL(filePath: file.string))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.string)
        return file
    }
}
