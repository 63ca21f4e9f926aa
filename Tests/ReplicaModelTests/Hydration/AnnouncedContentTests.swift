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

    /// The kernel cuts what is read at the size that it knows.
    @Test func aReadWaitsUntilTheKernelKnowsTheSize() async throws {
        let bench = try Bench()
        bench.store.write("text", to: "f")
        try await bench.settle()
        let number = try await bench.find("f")
        bench.replica.withTree { $0.presentations.beginContent(of: number) }
        let (engine, isRead) = (bench.engine, Locked(false))
        let reader = Task {
            let bytes = try await engine.read(number, 0..<4, ahead: 0..<4)
            isRead.withLock { $0 = true }
            return bytes
        }
        try await bench.until("it is fetched") { !bench.store.calls(of: .fetchContents).isEmpty }
        try await Task.sleep(for: .milliseconds(50))
        #expect(!isRead.withLock { $0 })
        bench.replica.withTree { $0.presentations.endContent(of: number) }
        #expect(try await reader.value == nil)
    }
}
