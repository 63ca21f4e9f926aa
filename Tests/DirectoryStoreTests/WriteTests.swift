import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// Which files the feed says may have other bytes under the same version.
@Suite(.serialized) struct WriteTests {
    private let scratch: Scratch
    private let store: DirectoryStore

    init() throws {
        scratch = try Scratch()
        store = try DirectoryStore(path: scratch.root)
    }

    private func path(_ name: String) -> String { "\(scratch.root)/\(name)" }

    private func write(_ text: String, _ name: String) {
        let file = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        let bytes = Array(text.utf8)
        #expect(Glibc.write(file, bytes, bytes.count) == bytes.count)
        close(file)
        setTime(name)
    }

    /// As a program does that leaves no trace but the change time.
    private func writeToMapping(_ text: String, _ name: String) {
        let file = open(path(name), O_RDWR)
        let bytes = Array(text.utf8)
        let mapping = mmap(nil, bytes.count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        #expect(mapping != MAP_FAILED)
        mapping?.copyMemory(from: bytes, byteCount: bytes.count)
        munmap(mapping, bytes.count)
        setTime(name)
        // The event of the new time is processed before that of the close.
        usleep(200_000)
        close(file)
    }

    private func setTime(_ name: String) {
        let times = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path(name), times, 0) == 0)
    }

    /// Asks until the items of these names were told, and gives the names of those that may be rewritten.
    private func told(_ names: Set<String>, _ anchor: inout SyncAnchor) async throws -> Set<String> {
        var (seen, rewritten): (Set<String>, Set<String>) = ([], [])
        let end = ContinuousClock.now + eventLimit
        while !seen.isSuperset(of: names), .now < end {
            let batch = try await store.enumerateChanges(from: anchor)
            anchor = batch.anchor
            for item in batch.updated {
                seen.insert(item.filename.description)
                if batch.rewritten.contains(item.identifier) { rewritten.insert(item.filename.description) }
            }
        }
        return rewritten
    }

    /// The event of a write mentions only the name that the program used.
    @Test(arguments: ["xxxx", "longer"]) func aWriteThroughOneNameIsReportedForAll(_ content: String) async throws {
        write("aaaa", "one")
        for name in ["two", "three"] { #expect(link(path("one"), path(name)) == 0) }
        _ = try await store.all()
        var anchor = try await store.currentAnchor()
        write(content, "two")
        #expect(try await told(["one", "two", "three"], &anchor) == ["one", "two", "three"])
    }

    @Test func onlyARewrittenFileMayHaveAnotherContent() async throws {
        for name in ["written", "mapped", "touched", "chmodded", "moved"] { write("aaaa", name) }
        let before = try await store.all()
        var anchor = try await store.currentAnchor()
        write("bbbb", "written")
        writeToMapping("bbbb", "mapped")
        setTime("touched")
        chmod(path("chmodded"), 0o600)
        rename(path("moved"), path("elsewhere"))
        let rewritten = try await told(["written", "mapped", "touched", "chmodded", "elsewhere"], &anchor)
        #expect(rewritten == ["written", "mapped"])
        let after = try await store.all()
        for name in ["written", "touched", "chmodded"] {
            let versions = [before, after].map { all in all.first { $0.filename.description == name }?.version }
            #expect(versions[0]?.content == versions[1]?.content && versions[0] != versions[1], "\(name)")
        }
        // What was told is not told again when something else happens.
        chmod(path("written"), 0o600)
        #expect(try await told(["written"], &anchor) == [])
    }

    /// The feed would call it the write of another client, and the next edit here a conflict.
    @Test func anUploadIsNotARewriteThoughTheFileWasTouchedBefore() async throws {
        write("aaaa", "f")
        _ = try await store.all()
        var anchor = try await store.currentAnchor()
        setTime("f")
        chmod(path("f"), 0o600)
        #expect(try await told(["f"], &anchor) == [])
        let base = try #require(try await store.all().first)
        _ = try await store.rewrite(base, "mine")
        // Another program has it open for writing and writes nothing.
        close(open(path("f"), O_WRONLY))
        write("bbbb", "g")
        let rewritten = try await told(["g"], &anchor)
        #expect(!rewritten.contains("f"))
    }

    /// An edit of what was rewritten must not go over it, whether the rewrite was told or not.
    @Test func anEditOfARewrittenFileIsAConflict() async throws {
        write("aaaa", "f")
        let base = try #require(try await store.all().first)
        var anchor = try await store.currentAnchor()
        write("bbbb", "f")
        for isTold in [false, true] {
            if isTold { _ = try await told(["f"], &anchor) }
            do {
                _ = try await store.rewrite(base, "mine")
                Issue.record("the rewrite is gone")
            } catch let error as RemoteStoreError {
                guard case .versionConflict(let present) = error else { throw error }
                #expect(present?.version.content == base.version.content)
            }
        }
        let present = try #require(try await store.all().first)
        chmod(path("f"), 0o600)
        // Whoever knows it may go over it, also when only its mode is another by now.
        _ = try await store.rewrite(present, "mine")
        #expect(try String(contentsOfFile: path("f"), encoding: .utf8) == "mine")
    }
}
