import Foundation
import SystemPackage

/// A folder for one test, with a name that `scripts/test` cleans up after a crash; removed with its last reference.
final class TemporaryFolder: Sendable {
    let path: FilePath

    init() throws {
        path = FilePath("/var/tmp/replica-test-\(getpid())-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            atPath: path.string, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path.string) } catch { print("not removed: \(path): \(error)") }
    }

    /// Creates a folder and its parents.
    @discardableResult func makeFolder(_ name: String) throws -> FilePath {
        let folder = path.appending(name)
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        return folder
    }

    /// Writes a file, creating its parent folders.
    @discardableResult func write(_ text: String, to name: String, mode: Int = 0o644) throws -> FilePath {
        let file = path.appending(name)
        try makeFolder(FilePath(name).removingLastComponent().string)
        try Data(text.utf8).write(to: URL(filePath: file.string))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.string)
        return file
    }
}

/// Runs blocking code on a separate thread: the pool has only one thread per core, and servers in this process need
/// them.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
