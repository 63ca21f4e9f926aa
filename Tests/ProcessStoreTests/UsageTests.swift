import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ProcessStore

/// The call `usage`: a store may report any numbers.
@Suite struct UsageTests {
    @Test(
        arguments: [
            ("usage-plain", [100, 40, 60]), ("usage-huge", [.max, 0, .max]), ("usage-negative", [100, 40, 60]),
            ("usage-too-much", [100, 100, 0]), ("usage-fraction", [100, 40, 60]), ("usage-nothing", nil),
            ("usage-unsupported", nil),
        ] as [(String, [Int64]?)])
    func impossibleNumbersAreMadeConsistent(fault: String, expected: [Int64]?) async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open(fault)
            #expect(store.properties.tellsUsage)
            let usage = try await store.usage()
            #expect(usage.map { [$0.total, $0.used, $0.free] } == expected)
            await store.close()
        }
    }

    @Test(arguments: ["usage-text", "usage-list", "usage-silence"]) func anInvalidAnswerIsIgnored(fault: String)
        async throws
    {
        try await RudeStore.run { rude in
            let store = try await rude.open(fault) { limits in
                (limits.silence, limits.answerToCancel) = (.milliseconds(500), .milliseconds(500))
            }
            let outcome: PathStorageError?
            do throws(PathStorageError) {
                _ = try await store.usage()
                outcome = nil
            } catch {
                outcome = error
            }
            guard case .unreachable = outcome else { throw BrokenPromise("\(String(describing: outcome))") }
            await store.close()
        }
    }

    /// A store that does not declare it is never asked: it would be started for that.
    @Test func aStoreWithoutUsageIsNotAsked() async throws {
        try await RudeStore.run { rude in
            let storage = try await rude.open("none")
            #expect(!storage.properties.tellsUsage)
            let store = try PathStore(storage, folder: rude.folder.string)
            let usage = try await store.usage()
            #expect(usage == nil)
            #expect(rude.notes("asked").isEmpty)
            try store.close()
            await storage.close()
        }
    }
}
