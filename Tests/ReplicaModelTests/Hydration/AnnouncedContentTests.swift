import Testing
import Threads

@testable import ReplicaModel
@testable import ReplicaTestSupport

/// The answer to a change of a placeholder's metadata can say that the store has another content, which is applied later.
@Suite struct AnnouncedContentTests {
    /// The placeholder has the size of the former content then: a read must not take that much of the new one for all of it.
    @Test(arguments: ["longer than before", "x"]) func aReadBeforeItIsAppliedWaitsForIt(text: String) async throws {
        let bench = try Bench()
        bench.store.write("before", to: "f")
        try await bench.settle()
        let number = try await bench.find("f")
        bench.store.write(text, to: "f")
        try bench.rename("f", to: "g")
        try await bench.send(after: 10)
        #expect(bench.store.text(at: "g") == text)
        #expect(bench.replica.contentVersion(of: number) == "")
        #expect(try await bench.read("g") == text)
    }

    /// The kernel cuts what is read at the size that it knows, and appends there.
    @Test(arguments: [true, false]) func aReadAndAnAppendWaitUntilTheKernelKnowsTheSize(isRead: Bool) async throws {
        let bench = try Bench()
        bench.store.write("text", to: "f")
        try await bench.settle()
        let number = try await bench.find("f")
        bench.replica.withTree { $0.presentations.beginContent(of: number) }
        let (domain, isDone) = (bench.domain, Locked(false))
        let program = Task {
            var bytes: UncachedBytes?
            if isRead {
                bytes = try await domain.read(number, 0..<4, ahead: 0..<4)
            } else {
                try await domain.hydrate(number, range: nil)
            }
            isDone.withLock { $0 = true }
            return bytes
        }
        try await bench.until("it is fetched") { !bench.store.calls(of: .fetchContents).isEmpty }
        try await Task.sleep(for: .milliseconds(50))
        #expect(!isDone.withLock { $0 })
        bench.replica.withTree { $0.presentations.endContent(of: number) }
        #expect(try await program.value == nil)
    }

    /// The open ends after a time, and its fetch goes on for the read.
    @Test func anOpenDoesNotWaitForAHungFetchForEver() async throws {
        let silent = SilentStore()
        silent.memory.write("text", to: "f")
        let bench = try Bench(store: silent.memory, through: silent)
        try await bench.settle()
        let number = try await bench.find("f")
        let engine = bench.engine { $0.isSequential = false }
        silent.fallSilent(at: .fetchContents)
        await engine.revalidate(number)
        #expect(silent.hung == 1)
        let reader = Task { try await engine.read(number, 0..<4, ahead: 0..<4) }
        silent.speak()
        #expect(try await reader.value == nil)
        #expect(silent.count(of: .fetchContents) == 1)
    }
}
