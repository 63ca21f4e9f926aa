import Foundation
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// Stores whose files others change without this machine's inotify being told.
@Suite(.serialized) struct RelistIntervalTests {
    @Test(
        arguments: [
            (0x6969, false, true), (0xFF53_4D42, false, true), (0xFE53_4D42, false, true), (0x0102_1997, false, true),
            (0x00C3_6400, false, true), (0x6573_5546, false, true), (0x6573_5546, true, false),
            (0x7461_636F, true, true),
            (0xEF53, true, false), (0x5846_5342, true, false), (0x9123_683E, false, false), (0x0102_1994, false, false),
            (0x8584_58F6, false, false), (0x4D44, true, false), (0x2011_BAB0, true, false), (0x794C_7630, false, false),
        ] as [(UInt32, Bool, Bool)])
    func onlyNetworkFileSystemsAreListedAgain(_ type: UInt32, _ isOnDevice: Bool, _ isShared: Bool) {
        #expect(FileSystemType(rawValue: type).isShared(isOnDevice: isOnDevice) == isShared)
    }

    @Test func thePauseDependsOnTheDurationOfAListing() {
        let looking = RelistInterval(interval: .seconds(60))
        #expect(looking.pause(after: .zero) == .seconds(60))
        #expect(looking.pause(after: .seconds(6)) == .seconds(60))
        #expect(looking.pause(after: .seconds(42)) == .seconds(420))
    }

    @Test func localFileSystemsAreNotListedAgain() throws {
        for path in ["/var/tmp", "/dev/shm"] {
            let scratch = try Scratch(in: path)
            #expect(try DirectoryStore(path: scratch.root).tree.relistInterval == nil)
        }
    }

    /// Written through a name outside of the store, which inotify tells nobody here of, as with another machine's change.
    @Test func unreportedChangesAreFound() async throws {
        let scratch = try Scratch()
        let (file, outside) = ("\(scratch.root)/file", "\(scratch.path)/outside")
        try Data("old".utf8).write(to: URL(filePath: file))
        try #require(link(file, outside) == 0)
        let store = try DirectoryStore(
            path: scratch.root, relistInterval: RelistInterval(interval: .milliseconds(50)))
        let old = try await store.child("file")
        let anchor = try await store.currentAnchor()
        let writer = try FileHandle(forWritingTo: URL(filePath: outside))
        try writer.write(contentsOf: Data("newer".utf8))
        try writer.close()
        let signals = store.signals()
        for await _ in signals { break }
        await expectFailure("syncAnchorExpired") { _ = try await store.enumerateChanges(from: anchor) }
        let new = try await store.child("file")
        #expect(new.identifier == old.identifier && new.size == 5 && new.version.content != old.version.content)
    }
}
