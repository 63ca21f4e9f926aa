import Foundation
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import DirectoryStore

/// A directory for a store, with a folder around it; removed with this object.
final class Scratch: Sendable {
    private let folder: TemporaryFolder
    var path: String { folder.path.string }

    /// - Parameter parent: Determines the filesystem.
    init(in parent: String = "/var/tmp") throws {
        folder = try TemporaryFolder(in: parent, mode: 0o755)
        try folder.makeFolder("store")
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
