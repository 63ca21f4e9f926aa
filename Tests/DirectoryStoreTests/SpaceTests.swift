import Glibc
import ReplicaModel
import Testing

@testable import DirectoryStore

/// The space that a directory store reports.
@Suite struct SpaceTests {
    @Test func theSpaceIsThatOfTheFileSystem() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        var status = statvfs()
        #expect(statvfs(scratch.root, &status) == 0)
        let usage = try #require(try await store.usage())
        #expect(usage.total == Int64(status.f_blocks) * Int64(status.f_frsize) && usage.free < usage.total)
    }

    /// Whatever is at the path of a disk that is not mounted.
    @Test func aReplacedRootIsNotAsked() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        #expect(rename(scratch.root, scratch.path + "/away") == 0 && mkdir(scratch.root, 0o755) == 0)
        await #expect(throws: (any Error).self) { _ = try await store.usage() }
    }
}
