import HTTPStorage
import ReplicaTestSupport
import Testing

@testable import WebDAVStore

/// A session on real servers of which each request is faulted in turn, and what failed is made again as the engine does: at the end of
/// each step all is there once, as it was written.
///
/// Of all faults each request has some in `scripts/test`, the lost answer always; `scripts/fault-test` has all of them.
@Suite struct BrokenNetworkTests {
    /// One that tests conditions, and one that does not.
    private static let servers = [WebDAVServer.lighttpd, .nginx]

    @Test(arguments: servers, ScriptedSession.Act.allCases)
    func nothingIsLostOrDoubledWhicheverRequestFails(_ server: WebDAVServer, _ act: ScriptedSession.Act) async throws {
        let known = try await server.abilities()
        let count = await FaultCampaign.eachRequest(few: act == .folders ? 1 : 2) { (name, patience, choice) in
            await Self.play(act, server, known, name, patience, choice)
        }
        #expect(count > 40)
    }

    /// Of all requests some fail, by chance.
    @Test(arguments: servers + [.apache, .sabre, .rclone, .nextcloud], ScriptedSession.Act.allCases)
    func nothingIsLostOrDoubledByManyFaults(_ server: WebDAVServer, _ act: ScriptedSession.Act) async throws {
        let known = try await server.abilities()
        await FaultCampaign.byChance { (name, patience, choice) in
            await Self.play(act, server, known, name, patience, choice)
        }
    }

    /// Those that could be taken for what a server does.
    private static let telling: Set<HTTPFault> = [
        .lostAnswer, .portal, .noSuchPage, .internalError, .conflict, .sentTwice,
    ]

    /// What a server can do is not taken from what somebody else says.
    @Test(arguments: servers) func aServerIsKnownForWhatItIsWhicheverRequestFails(_ server: WebDAVServer) async throws {
        let wanted = try await server.abilities()
        let faults = HTTPFault.allCases.filter { FaultCampaign.isWhole || Self.telling.contains($0) }
        let count = await FaultCampaign.eachRequest(of: faults) { (name, patience, choice) in
            do {
                let session = try await FaultedSession(server, wanted, patience: patience, choice)
                do throws(ServerFailure) {
                    var found = try await session.abilities()
                    // Two writes within a second need a machine that has time for it.
                    if !found.isExact { found.isExact = wanted.isExact }
                    #expect(found == wanted, "\(session.faulted)")
                } catch {
                    switch error {
                    // It is tried again; also after a page that says that there is no such folder.
                    case .unreachable, .busy, .refused: break
                    default: Issue.record("\(name): \(error), after \(session.faulted)")
                    }
                }
                return session.faulted.count
            } catch {
                Issue.record("\(error)")
                return 0
            }
        }
        #expect(count > 20 * faults.count)
    }

    /// - Returns: How many requests were faulted.
    private static func play(
        _ act: ScriptedSession.Act, _ server: WebDAVServer, _ known: ServerAbilities, _ name: String, _ patience: Int,
        _ choice: @escaping StepFaults.Choice
    ) async -> Int {
        do {
            let session = try await FaultedSession(server, known, patience: patience, choice)
            do { try await session.play(act) } catch {
                Issue.record("\(server), \(act), \(name): \(error), after \(session.faulted)")
            }
            return session.faulted.count
        } catch {
            Issue.record("\(error)")
            return 0
        }
    }
}
