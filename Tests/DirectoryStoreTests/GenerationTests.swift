import Foundation
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import DirectoryStore

/// A store's directory that is restored to an older state, by a snapshot, an image or a backup.
@Suite(.serialized) struct GenerationTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private var image: String { "\(scratch.path)/image" }
    private var path: String { "\(scratch.root)/store" }

    private func mount() throws { try #require(try run("mount", "-o", "loop", image, scratch.root) == 0) }
    private func unmount() throws { try #require(try run("umount", scratch.root) == 0) }

    @Test(.enabled(if: geteuid() == 0)) func noCallReachesAnOlderImage() async throws {
        try #require(try run("truncate", "-s", "16M", image) == 0)
        try #require(try run("mkfs.ext4", "-q", "-F", "-I", "256", image) == 0)
        defer { while (try? run("umount", scratch.root)) == 0 {} }
        try mount()
        try DirectoryStore.makeDirectory(path, mode: 0o700)
        let first = try DirectoryStore(path: path)
        try await first.make("old", "text")
        _ = try await first.currentAnchor()
        try unmount()
        try #require(try run("cp", image, "\(image).older") == 0)
        try mount()
        let second = try DirectoryStore(path: path)
        try await second.make("new", "text")
        _ = try await second.all()
        let anchor = try await second.currentAnchor()
        try unmount()
        try #require(try run("cp", image, "\(image).newer") == 0)
        try #require(try run("cp", "\(image).older", image) == 0)
        try mount()
        // Who was there before and who comes now.
        let third = try DirectoryStore(path: path)
        await expectFailure("cannotSynchronize") { try await third.recognize(anchor) }
        await expectFailure("cannotSynchronize") { _ = try await second.enumerateChanges(from: anchor) }
        for store in [second, third] {
            await expectFailure("serverUnreachable") { try await store.make("more", "text") }
            await expectFailure("serverUnreachable") { _ = try await store.all() }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["old"])
        // The user confirms it, and later the newer state is restored anyway.
        await expectFailure("cannotSynchronize") { try await third.recognize(anchor) }
        _ = try await third.currentAnchor()
        #expect(try await third.all().map(\.filename) == [FileName("old")])
        try unmount()
        try #require(try run("cp", "\(image).newer", image) == 0)
        try mount()
        try await second.recognize(anchor)
        #expect(try await second.all().count == 2)
    }

    /// What others write there causes a question, or none, and no more.
    @Test func anInvalidGenerationIsZero() async throws {
        let store = try DirectoryStore(path: scratch.root)
        let anchor = try await store.currentAnchor()
        for value in ["", "x", "-1", "99999999999999999999"] {
            try #require(try run("setfattr", "-n", "user.replica.generation", "-v", value, scratch.root) == 0)
            let other = try DirectoryStore(path: scratch.root)
            await expectFailure("cannotSynchronize") { try await other.recognize(anchor) }
            _ = try await other.currentAnchor()
        }
        let last = String(UInt64.max)
        try #require(try run("setfattr", "-n", "user.replica.generation", "-v", last, scratch.root) == 0)
        let other = try DirectoryStore(path: scratch.root)
        try await other.recognize(anchor)
        let next = try await other.currentAnchor()
        try await other.recognize(next)
        try await other.make("file", "text")
    }

    /// While another process counts on, nobody else does: of two that read the same number, a slow one would write a lower one than is known.
    @Test func oneProcessAtATimeRaisesTheGeneration() throws {
        let folder = try SystemCalls.open(path: scratch.root, O_RDONLY | O_DIRECTORY)
        let known = try RootGeneration(of: folder)
        let other = open(scratch.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(flock(other, LOCK_EX) == 0)
        #expect(throws: Errno.wouldBlock) { try RootGeneration.increment(of: folder, known: known) }
        #expect(try RootGeneration(of: folder) == known)
        close(other)
        let next = try #require(try RootGeneration.increment(of: folder, known: known))
        #expect(next > known)
        #expect(try RootGeneration(of: folder) == next)
    }

    /// What was put back meanwhile is not made to look like the newer state.
    @Test func anOlderStateIsNotContinued() throws {
        let folder = try SystemCalls.open(path: scratch.root, O_RDONLY | O_DIRECTORY)
        #expect(try RootGeneration.increment(of: folder, known: RootGeneration(number: 3)) == nil)
        #expect(try RootGeneration(of: folder) == RootGeneration(number: 0))
    }

    @Test func theNumberGrowsAtTheStartAndWithChanges() {
        let renewals = GenerationRenewals()
        let (one, two) = (SyncAnchor(bytes: [1]), SyncAnchor(bytes: [2]))
        let begin = ContinuousClock.now
        #expect(renewals.isDue(at: one, now: begin))
        #expect(!renewals.isDue(at: two, now: begin + .seconds(599)))
        #expect(!renewals.isDue(at: one, now: begin + .seconds(601)))
        #expect(renewals.isDue(at: two, now: begin + .seconds(602)))
        #expect(!renewals.isDue(at: one, now: begin + .seconds(603)))
    }
}
