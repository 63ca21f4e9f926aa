import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// A file with a lease only affects itself.
@Suite struct LeaseTests {
    /// F_SETLEASE of fcntl(2), which Glibc has only with _GNU_SOURCE.
    private static let setLease: Int32 = 1_024

    /// Runs `body` while other processes can't open the file.
    private static func holding<Value>(_ path: String, _ body: () async throws -> Value) async throws -> Value {
        // The kernel signals the holder that others wait.
        signal(SIGIO, SIG_IGN)
        let file = open(path, O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        defer {
            // A process that another test is just starting has the file too, and the lease with it.
            _ = fcntl(file, setLease, F_UNLCK)
            close(file)
        }
        try #require(fcntl(file, setLease, F_WRLCK) == 0)
        return try await body()
    }

    @Test func aLeasedFileHidesNoOther() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        let held = try await store.make("held", "text")
        try await store.make("free", "text")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        try Data("more".utf8).write(to: URL(fileURLWithPath: "\(scratch.root)/free"))
        try await Self.holding("\(scratch.root)/held") {
            #expect(try await store.all().map(\.filename.description).sorted() == ["free", "held"])
            _ = try await store.enumerateChanges(from: anchor)
            do throws(RemoteStoreError) {
                _ = try await store.fetchContents(of: held.identifier, version: nil, range: nil, into: ContentBuffer())
                Issue.record("it could be read")
            } catch {
                #expect(error.code == "itemUnavailable")
            }
        }
        let content = ContentBuffer()
        _ = try await store.fetchContents(of: held.identifier, version: nil, range: nil, into: content)
        #expect(content.bytes == Array("text".utf8))
    }
}
