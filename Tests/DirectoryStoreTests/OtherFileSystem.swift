import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import DirectoryStore

/// A file system without attributes (ramfs), mounted at a place of a test's own as long as this lives. Needs root.
final class OtherFileSystem: Sendable {
    private let scratch: Scratch
    /// The directory that stores are given.
    let root: String
    /// Where a domain keeps what the file system doesn't.
    var memory: FilePath { FilePath("\(scratch.path)/places") }

    init() throws {
        scratch = try Scratch()
        root = "\(scratch.root)/store"
        guard try run("mount", "-t", "ramfs", "none", scratch.root) == 0, mkdir(root, 0o755) == 0 else {
            throw POSIXError(.EPERM)
        }
    }

    deinit { umount2(scratch.root, Int32(MNT_DETACH)) }

    func remount(_ options: String) throws {
        try #require(try run("mount", "-o", "remount,\(options)", scratch.root) == 0)
    }

    func store() throws -> DirectoryStore { try DirectoryStore(path: root, memory: memory) }

    func subject(_ abilities: FileSystemAbilities? = nil) async throws -> StoreSubject {
        let (root, memory) = (root, memory)
        return try await StoreSubject(other: SlowClient(client: ShellClient(root: root))) {
            try DirectoryStore(path: root, memory: memory, abilities: abilities)
        }
    }
}

/// Writes until the file has another time than before: the file system tells times by a clock that ticks.
struct SlowClient: OtherClient {
    let client: ShellClient

    func write(_ content: [UInt8], to path: String) async throws {
        let before = modified(path)
        repeat { try await client.write(content, to: path) } while modified(path) == before
    }

    /// Nil where nothing is.
    private func modified(_ path: String) -> [Int]? {
        var status = stat()
        guard stat("\(client.root)/\(path)", &status) == 0 else { return nil }
        return [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    func makeFolder(_ path: String) async throws { try await client.makeFolder(path) }
    func move(_ path: String, to destination: String) async throws { try await client.move(path, to: destination) }
    func delete(_ path: String) async throws { try await client.delete(path) }
    func content(at path: String) async throws -> [UInt8]? { try await client.content(at: path) }
}
