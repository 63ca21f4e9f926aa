import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// An item of the store that can be created here, but not completed.
@Suite struct PartialCreateTests {
    /// Otherwise the store's version would be recorded for an item without the rest of its metadata.
    @Test func nothingRemainsOfIt() async throws {
        let bench = try Bench()
        bench.store.makeFolder("d")
        try await bench.settle()
        try await bench.engine.list(try await bench.find("d"))
        bench.store.write("text", to: "d/f")
        // Longer than any filesystem here takes.
        let name = "user." + String(repeating: "x", count: 300)
        bench.store.update("d/f") { $0.extendedAttributes = [name: [1]] }
        try await bench.settle()
        #expect(try bench.tree()["d/f"] == nil)
        bench.store.update("d/f") { $0.extendedAttributes = ["user.a": [1]] }
        try await bench.settle()
        bench.pass(3600)
        try await bench.settle()
        #expect(try bench.tree()["d/f"] != nil)
        #expect(try await bench.read("d/f") == "text")
    }
}
