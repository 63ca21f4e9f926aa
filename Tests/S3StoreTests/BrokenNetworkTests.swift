import Foundation
import HTTPStorage
import ReplicaTestSupport
import Testing
import Threads

@testable import S3Store

/// A session on the real server of which each request is faulted in turn, and what failed is made again as the engine does: at the
/// end of each step all is there once, as it was written.
///
/// Of all faults each request has some in `scripts/test`, the lost answer always; `scripts/fault-test` has all of them.
@Suite struct BrokenNetworkTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isWhole = environment["REPLICA_FAULT_ALL"] != nil
    private static let seed = UInt64(environment["REPLICA_FAULT_SEED"] ?? "") ?? 1
    private static let rounds = Int(environment["REPLICA_FAULT_ROUNDS"] ?? "") ?? 2

    /// The faults that the request of this number has.
    private static func faults(_ number: Int, _ act: ScriptedSession.Act) -> [HTTPFault] {
        if isWhole { return HTTPFault.allCases }
        let others = HTTPFault.allCases.filter { $0 != .lostAnswer }
        let first = number &* 5 &+ Int(truncatingIfNeeded: seed)
        return [.lostAnswer] + (0..<(act == .folders ? 1 : 2)).map { others[(first + $0 * 3) % others.count] }
    }

    @Test(arguments: ScriptedSession.Act.allCases)
    func nothingIsLostOrDoubledWhicheverRequestFails(_ act: ScriptedSession.Act) async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let next = Locked((number: 0, left: [HTTPFault](), isOver: false))
        let count = Locked(0)
        @Sendable func take() -> (Int, HTTPFault)? {
            next.withLock { next in
                if next.isOver { return nil }
                if next.left.isEmpty { (next.number, next.left) = (next.number + 1, Self.faults(next.number + 1, act)) }
                return (next.number, next.left.removeFirst())
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    while let (number, fault) = take() {
                        let name = "\(fault.rawValue) \(number)"
                        let patience = fault.takesLong ? 1 : 30
                        let faulted = await Self.play(act, server, bucket, name, patience: patience) {
                            (count, _) in count == number ? fault : nil
                        }
                        // No step has as many requests.
                        if faulted == 0 { next.withLock { $0.isOver = true } }
                        count.withLock { $0 += faulted }
                    }
                }
            }
        }
        #expect(count.withLock { $0 } > 100)
    }

    /// Of all requests some fail, by chance.
    @Test(arguments: ScriptedSession.Act.allCases)
    func nothingIsLostOrDoubledByManyFaults(_ act: ScriptedSession.Act) async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let kinds = HTTPFault.allCases.filter { !$0.takesLong }
        for round in 0..<Self.rounds {
            let dice = Locked(SeededGenerator(Self.seed &+ UInt64(round)))
            _ = await Self.play(act, server, bucket, "seed \(Self.seed &+ UInt64(round))") { (_, _) in
                dice.withLock { Int.random(in: 0..<10, using: &$0) == 0 ? kinds.randomElement(using: &$0) : nil }
            }
        }
    }

    /// Those that could be taken for what a server does.
    private static let telling: Set<HTTPFault> = [.lostAnswer, .portal, .noSuchPage, .internalError, .conflict]

    /// What a server can do is not taken from what somebody else says.
    @Test func aServerIsKnownForWhatItIsWhicheverRequestFails() async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let wanted = ServerAbilities(createsExclusively: true, replaceForm: .bare)
        for fault in HTTPFault.allCases where Self.isWhole || Self.telling.contains(fault) {
            var (number, wasFaulted) = (0, true)
            while wasFaulted {
                number += 1
                let chosen = number
                let session = try FaultedSession(server, bucket, patience: fault.takesLong ? 1 : 30) { (count, _) in
                    count == chosen ? fault : nil
                }
                do throws(ServerFailure) {
                    let found = try await session.abilities()
                    #expect(found == wanted, "\(session.faulted)")
                } catch {
                    // It is tried again.
                    if case .unreachable = error { continue }
                    if case .busy = error { continue }
                    Issue.record("\(session.faulted): \(error)")
                }
                wasFaulted = !session.faulted.isEmpty
            }
            #expect(number > 10)
        }
    }

    /// - Returns: How many requests were faulted.
    private static func play(
        _ act: ScriptedSession.Act, _ server: S3Server, _ bucket: String, _ name: String, patience: Int = 30,
        _ choice: @escaping FaultedSession.Choice
    ) async -> Int {
        do {
            let session = try FaultedSession(server, bucket, patience: patience, choice)
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
