internal import Foundation
internal import Threads

/// Sessions in which each request fails in turn, or random ones, as set in the environment: `REPLICA_FAULT_ALL` for all
/// faults, `REPLICA_FAULT_SEED`, and `REPLICA_FAULT_ROUNDS` for the number of sessions by chance.
package enum FaultCampaign {
    private static let environment = ProcessInfo.processInfo.environment
    /// Whether each request gets all faults; otherwise it gets some, always including the lost answer.
    package static let isWhole = environment["REPLICA_FAULT_ALL"] != nil
    private static let seed = UInt64(environment["REPLICA_FAULT_SEED"] ?? "") ?? 1
    private static let rounds = Int(environment["REPLICA_FAULT_ROUNDS"] ?? "") ?? 2

    /// Runs a session with the chosen faults, given its name.
    /// - Returns: How many requests were faulted.
    package typealias Play =
        @Sendable (_ name: String, _ silenceSeconds: Int, _ choice: @escaping StepFaults.Choice) async -> Int

    /// The faults of the request with this number.
    private static func faults(_ number: Int, _ few: Int) -> [HTTPFault] {
        if isWhole { return HTTPFault.allCases }
        let others = HTTPFault.allCases.filter { $0 != .lostAnswer }
        let first = number &* 5 &+ Int(truncatingIfNeeded: seed)
        return [.lostAnswer] + (0..<few).map { others[(first + $0 * 3) % others.count] }
    }

    /// A session's timeout without a byte, in seconds.
    private static func silenceSeconds(_ fault: HTTPFault) -> Int { fault.takesLong ? 1 : 30 }

    /// Faults the first request of every step, then the second, until no step has that many.
    /// - Parameter few: How many faults a request gets in addition to the lost answer.
    /// - Returns: How many requests were faulted.
    package static func eachRequest(few: Int, _ play: @escaping Play) async -> Int {
        let next = Locked((number: 0, left: [HTTPFault](), isOver: false))
        @Sendable func take() -> (Int, HTTPFault)? {
            next.withLock { next in
                if next.isOver { return nil }
                if next.left.isEmpty { (next.number, next.left) = (next.number + 1, faults(next.number + 1, few)) }
                return (next.number, next.left.removeFirst())
            }
        }
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    while let (number, fault) = take() {
                        let faulted = await play("\(fault.rawValue) \(number)", silenceSeconds(fault)) { (count, _) in
                            count == number ? fault : nil
                        }
                        // No step has that many requests.
                        if faulted == 0 { next.withLock { $0.isOver = true } }
                        count.withLock { $0 += faulted }
                    }
                }
            }
        }
        return count.withLock { $0 }
    }

    /// Faults one request in ten.
    package static func byChance(_ play: Play) async {
        let kinds = HTTPFault.allCases.filter { !$0.takesLong }
        for round in 0..<rounds {
            let seed = seed &+ UInt64(round)
            let dice = Locked(SeededGenerator(seed))
            _ = await play("seed \(seed)", 30) { (_, _) in
                dice.withLock { Int.random(in: 0..<10, using: &$0) == 0 ? kinds.randomElement(using: &$0) : nil }
            }
        }
    }

    /// Runs a single step with each of these faults at each of its requests.
    /// - Returns: How many requests were faulted.
    package static func eachRequest(of faults: [HTTPFault], _ play: Play) async -> Int {
        var count = 0
        for fault in faults {
            var number = 0
            while true {
                number += 1
                let chosen = number
                let faulted = await play("\(fault.rawValue) \(number)", silenceSeconds(fault)) { (count, _) in
                    count == chosen ? fault : nil
                }
                if faulted == 0 { break }
                count += faulted
            }
        }
        return count
    }
}
