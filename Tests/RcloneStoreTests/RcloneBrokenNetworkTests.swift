import ReplicaTestSupport
import Testing

@testable import RcloneStore

/// A session on a real rclone in which each request fails in turn and is repeated like by the engine: at the end of
/// each step every file exists exactly once, as written.
///
/// In `scripts/test` each request gets some of the faults, always including the lost answer; `scripts/fault-test`
/// applies all of them.
@Suite struct RcloneBrokenNetworkTests {
    @Test(arguments: ScriptedSession.Act.allCases)
    func aFailureOfAnyRequestLosesAndDuplicatesNothing(_ act: ScriptedSession.Act) async throws {
        let count = await FaultCampaign.eachRequest(few: act == .folders ? 0 : 1) { (name, silenceSeconds, choice) in
            await Self.play(act, name, silenceSeconds, choice)
        }
        #expect(count > 40)
    }

    /// Random requests fail.
    @Test(arguments: ScriptedSession.Act.allCases)
    func randomFailuresLoseAndDuplicateNothing(_ act: ScriptedSession.Act) async throws {
        await FaultCampaign.byChance { (name, silenceSeconds, choice) in
            await Self.play(act, name, silenceSeconds, choice)
        }
    }

    /// - Returns: How many requests were faulted.
    private static func play(
        _ act: ScriptedSession.Act, _ name: String, _ silenceSeconds: Int, _ choice: @escaping StepFaults.Choice
    ) async -> Int {
        do {
            let session = try await RcloneFaultedSession(silenceSeconds: silenceSeconds, choice)
            do { try await session.play(act) } catch {
                Issue.record("\(act), \(name): \(error), after \(session.faulted)")
            }
            return session.faulted.count
        } catch {
            Issue.record("\(error)")
            return 0
        }
    }
}
