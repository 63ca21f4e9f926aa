import Foundation
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import DirectoryStore

/// A temporary directory, which is removed with this object.
final class Scratch: Sendable {
    let path: String

    /// Makes a directory below `parent`, which decides the file system.
    init(in parent: String = "/var/tmp") throws {
        path = "\(parent)/replica-store-\(UUID().uuidString)"
        for folder in [path, root] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        }
    }

    deinit {
        // A directory that can't be removed is left in /tmp.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The directory that stores are given.
    var root: String { "\(path)/store" }

    func subject() async throws -> StoreSubject {
        let root = root
        return try await StoreSubject(other: ShellClient(root: root)) { try DirectoryStore(path: root) }
    }
}

/// Another program that uses the store's directory.
struct ShellClient: OtherClient {
    let root: String

    private func path(_ path: String) -> String { "\(root)/\(path)" }

    func write(_ content: [UInt8], to path: String) async throws {
        try Data(content).write(to: URL(fileURLWithPath: self.path(path)))
    }

    func makeFolder(_ path: String) async throws {
        try FileManager.default.createDirectory(atPath: self.path(path), withIntermediateDirectories: false)
    }

    func move(_ path: String, to destination: String) async throws {
        try FileManager.default.moveItem(atPath: self.path(path), toPath: self.path(destination))
    }

    func delete(_ path: String) async throws {
        try FileManager.default.removeItem(atPath: self.path(path))
    }

    func content(at path: String) async throws -> [UInt8]? {
        FileManager.default.contents(atPath: self.path(path)).map { Array($0) }
    }
}
