import CLinux
import Glibc
import ReplicaModel
import Testing
import Threads

@testable import DirectoryStore

/// On whose threads the store's blocking work is.
@Suite struct DirectoryThreadTests {
    private struct Sink: ContentSink {
        let thread: Locked<Int32>
        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) { thread.withLock { $0 = gettid() } }
    }

    /// The thread that reads a file's content for a fetch.
    private func threadOfFetch(_ store: DirectoryStore) async throws -> Int32 {
        let item = try #require(try await store.enumerateItems(in: .root, from: nil).items.first)
        let thread = Locked<Int32>(0)
        _ = try await store.fetchContents(of: item.identifier, version: nil, range: nil, into: Sink(thread: thread))
        return thread.withLock { $0 }
    }

    @Test func callsRunOnThreadsOfTheStore() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        try await ShellClient(root: scratch.root).write([1], to: "x")
        let executor = try #require(store.executor)
        var own: Set<Int32> = []
        for _ in 0..<200 { own.insert(await Task(executorPreference: executor) { gettid() }.value) }
        for _ in 0..<20 { #expect(own.contains(try await threadOfFetch(store))) }
    }

    /// What is being sent may block for long, all of it at once.
    @Test func aReadDoesNotWaitForUploads() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        try await ShellClient(root: scratch.root).write([1], to: "x")
        let isRead = Locked(false)
        let senders = (0..<store.properties.concurrency).map { _ in
            Task(executorPreference: store.executor) { while !isRead.withLock({ $0 }) { usleep(1_000) } }
        }
        _ = try await threadOfFetch(store)
        isRead.withLock { $0 = true }
        for sender in senders { await sender.value }
    }

    @Test func aCallFromAThreadOfTheStoreStaysThere() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        try await ShellClient(root: scratch.root).write([1], to: "x")
        for _ in 0..<50 {
            let isSame = try await Task(executorPreference: store.executor) {
                let own = gettid()
                return try await threadOfFetch(store) == own && gettid() == own
            }.value
            #expect(isSame)
        }
    }
}
