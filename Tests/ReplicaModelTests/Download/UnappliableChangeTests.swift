import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// A change of the store that the backing tree refuses again and again.
@Suite struct UnappliableChangeTests {
    /// A name that a program took directly in the backing tree: the change is shown and retried later, the others go on.
    @Test func aLastingErrorIsShownAndRetriedLater() async throws {
        let bench = try Bench()
        try await bench.settle()
        let intruder = bench.folders.tree.appending("x").string
        try Data("intruder".utf8).write(to: URL(fileURLWithPath: intruder))
        bench.store.write("theirs", to: "x")
        let identifier = try #require(bench.store.item(at: "x")?.identifier)
        for _ in 0..<12 { try await bench.receive() }
        #expect(bench.engine.state.withLock { $0.postponed.unknown } == [identifier])
        bench.store.write("other", to: "y")
        try await bench.receive()
        #expect(try await bench.read("y") == "other")
        #expect(try String(contentsOfFile: intruder, encoding: .utf8) == "intruder")

        try FileManager.default.removeItem(atPath: intruder)
        bench.pass(4_000)
        try await bench.receive()
        #expect(try await bench.read("x") == "theirs")
        #expect(bench.engine.state.withLock { $0.postponed.isEmpty })
    }

    /// What passes at once is not postponed: a name that is just being moved away.
    @Test func someFailuresAreNotLasting() {
        var changes = PostponedChanges()
        let item = ItemIdentifier("1")
        for _ in 0..<8 {
            let isLasting = changes.isLasting(item)
            #expect(!isLasting)
        }
        changes.remove(item)
        for count in 0..<9 {
            let isLasting = changes.isLasting(item)
            #expect(isLasting == (count == 8))
        }
    }
}
