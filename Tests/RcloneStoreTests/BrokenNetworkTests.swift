import ReplicaTestSupport
import Testing

@testable import RcloneStore

/// A session on a real rclone of which each request is faulted in turn, and what failed is made again as the engine does: at the end of
/// each step all is there once, as it was written.
///
/// Of all faults each request has some in `scripts/test`, the lost answer always; `scripts/fault-test` has all of them.
@Suite struct BrokenNetworkTests {
    @Test(arguments: ScriptedSession.Act.allCases)
    func nothingIsLostOrDoubledWhicheverRequestFails(_ act: ScriptedSession.Act) async throws {
        let count = await FaultCampaign.eachRequest(few: act == .folders ? 0 : 1) { (name, patience, choice) in
            await Self.play(act, name, patience, choice)
        }
        #expect(count > 40)
    }

    /// Of all requests some fail, by chance.
    @Test(arguments: ScriptedSession.Act.allCases)
    func nothingIsLostOrDoubledByManyFaults(_ act: ScriptedSession.Act) async throws {
        await FaultCampaign.byChance { (name, patience, choice) in await Self.play(act, name, patience, choice) }
    }

    /// - Returns: How many requests were faulted.
    private static func play(
        _ act: ScriptedSession.Act, _ name: String, _ patience: Int, _ choice: @escaping StepFaults.Choice
    ) async -> Int {
        do {
            let session = try await FaultedSession(patience: patience, choice)
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
