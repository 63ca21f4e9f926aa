import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import DirectoryStore

/// A file system without attributes, mounted at a place of a test's own as long as this lives. Needs root.
final class OtherFileSystem: Sendable {
    enum Kind {
        case ramfs
        /// By FUSE. It has no modes, links or symlinks either, and finds names in any case.
        case exFAT

        /// A command that mounts one at `$1`; `$2` is a free path beside it.
        var command: String {
            switch self {
            case .ramfs: #"mount -t ramfs none "$1""#
            case .exFAT:
                // The device is detached when the file system is gone. Its process must not hold descriptors of the caller, which
                // would wait for it.
                #"""
                for fd in $(ls /proc/$$/fd); do [ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-"; done
                truncate -s 64M "$2" && mkfs.exfat "$2" >/dev/null && loop=$(losetup -f --show "$2") &&
                    mount.exfat-fuse "$loop" "$1" && losetup -d "$loop"
                """#
            }
        }
    }

    private let scratch: Scratch
    /// The directory that stores are given.
    let root: String
    /// Where a domain keeps what the file system doesn't.
    var memory: FilePath { FilePath("\(scratch.path)/places") }

    init(_ kind: Kind = .ramfs) throws {
        scratch = try Scratch()
        root = "\(scratch.root)/store"
        let isMounted = try run("bash", "-c", kind.command, "bash", scratch.root, "\(scratch.path)/disk")
        guard isMounted == 0, mkdir(root, 0o755) == 0 else {
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
