import PathStore
import ReplicaTestSupport
import Testing

@testable import ProcessStore

/// Stores that misbehave before their greeting.
@Suite(.serialized) struct RudeHelloTests {
    @Test(arguments: [
        ("hello-garbage", "a line that is not valid JSON"), ("hello-endless", "a line that is too long"),
        ("hello-death", "rude-store ended with status 3"), ("hello-half", "rude-store ended with status 0"),
        ("hello-protocol", "a line whose protocol cannot be read"),
        ("hello-level", "a line whose level cannot be read"),
        ("hello-concurrency", "a line whose properties.concurrency cannot be read"),
        ("hello-array", "the wrong type"),
    ])
    func anInvalidHelloIsUnreachable(fault: String, reason: String) async throws {
        try await RudeStore.run { rude in
            let failure = await #expect(throws: StoreFailure.self) { _ = try await rude.open(fault) }
            guard case .unreachable(let text) = failure else {
                Issue.record("it was \(String(describing: failure))")
                return
            }
            #expect(text.contains(reason))
        }
    }

    @Test(arguments: ["hello-silence", "hello-stubborn"])
    func aSilentProgramTimesOut(fault: String) async throws {
        try await RudeStore.run { rude in
            await #expect(throws: StoreFailure.unreachable("the store did not say hello in time")) {
                _ = try await rude.open(fault) { $0.hello = .seconds(2) }
            }
        }
    }

    /// A server may need longer for a login and its trial requests than a program may be silent.
    @Test func aSlowOpeningIsAwaitedWhileTheProgramSaysSo() async throws {
        try await RudeStore.run { rude in
            _ = try await rude.open("hello-slow") { $0.hello = .seconds(15) }
        }
        try await RudeStore.run { rude in
            await #expect(throws: StoreFailure.unreachable("the store could not be opened in time")) {
                _ = try await rude.open("hello-opening") { ($0.hello, $0.opening) = (.seconds(60), .seconds(2)) }
            }
        }
    }

    @Test func reasonsForAFailedOpeningAreDistinguished() async throws {
        let expected: [(String, StoreFailure)] = [
            ("hello-login", .notAuthenticated("no such [31m user at all")),
            ("hello-refusal", .refused("no such bucket")),
            ("hello-busy", .busy(2.5, "the server is busy")),
            ("hello-untrusted", .untrustedServer("another certificate")),
        ]
        for (fault, failure) in expected {
            try await RudeStore.run { rude in
                await #expect(throws: failure) { _ = try await rude.open(fault) }
            }
        }
    }
}
