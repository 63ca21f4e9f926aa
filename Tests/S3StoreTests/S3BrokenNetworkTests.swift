import HTTPStorage
import ReplicaTestSupport
import Testing

@testable import S3Store

/// A session on the real server in which each request fails in turn and is repeated like by the engine: at the end of
/// each step every file exists exactly once, as written.
///
/// In `scripts/test` each request gets some of the faults, always including the lost answer; `scripts/fault-test`
/// applies all of them.
@Suite struct S3BrokenNetworkTests {
    @Test(arguments: ScriptedSession.Act.allCases)
    func aFailureOfAnyRequestLosesAndDuplicatesNothing(_ act: ScriptedSession.Act) async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let count = await FaultCampaign.eachRequest(few: act == .folders ? 1 : 2) { (name, silenceSeconds, choice) in
            await Self.play(act, server, bucket, name, silenceSeconds: silenceSeconds, choice)
        }
        #expect(count > 100)
    }

    /// Random requests fail.
    @Test(arguments: ScriptedSession.Act.allCases)
    func randomFailuresLoseAndDuplicateNothing(_ act: ScriptedSession.Act) async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        await FaultCampaign.byChance { (name, silenceSeconds, choice) in
            await Self.play(act, server, bucket, name, silenceSeconds: silenceSeconds, choice)
        }
    }

    /// Faults that could be mistaken for features of a server.
    private static let telling: Set<HTTPFault> = [.lostAnswer, .portal, .noSuchPage, .internalError, .conflict]

    /// A server's features are not concluded from another machine's answers.
    @Test func aFailureOfAnyRequestDoesNotChangeTheDetectedFeatures() async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let wanted = ServerAbilities(createsExclusively: true, replaceForm: .bare)
        let faults = HTTPFault.allCases.filter { FaultCampaign.isWhole || Self.telling.contains($0) }
        let count = await FaultCampaign.eachRequest(of: faults) { (name, silenceSeconds, choice) in
            do {
                let session = try S3FaultedSession(server, bucket, silenceSeconds: silenceSeconds, choice)
                do throws(ServerFailure) {
                    let found = try await session.abilities()
                    #expect(found == wanted, "\(session.faulted)")
                } catch {
                    switch error {
                    // It is tried again.
                    case .unreachable, .busy: break
                    default: Issue.record("\(name): \(error), after \(session.faulted)")
                    }
                }
                return session.faulted.count
            } catch {
                Issue.record("\(error)")
                return 0
            }
        }
        #expect(count > 10 * faults.count)
    }

    /// - Returns: How many requests were faulted.
    private static func play(
        _ act: ScriptedSession.Act, _ server: S3Server, _ bucket: String, _ name: String, silenceSeconds: Int = 30,
        _ choice: @escaping StepFaults.Choice
    ) async -> Int {
        do {
            let session = try S3FaultedSession(server, bucket, silenceSeconds: silenceSeconds, choice)
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
