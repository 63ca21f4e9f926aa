import ReplicaTestSupport
import Threads

@testable import ReplicaModel

/// Machines that share one domain and work at the same time.
struct Fleet: Sendable {
    let place: SharedPlace
    let machines: [Machine]
    let expected = ExpectedContents()
    let log = OperationLog()
    private let seed: UInt64

    /// Clocks of the machines, in seconds from the right time.
    private static let skews = [0.0, 7_200, -18_000, 86_400, -600]

    init(_ count: Int, on kind: SharedPlace.Kind, seed: UInt64) async throws {
        let (place, log) = (try await SharedPlace(kind), log)
        (self.place, self.seed) = (place, seed)
        machines = try (0..<count).map {
            try Machine($0, of: place, log: log, seed: seed, skew: Self.skews[$0 % Self.skews.count])
        }
        for machine in machines {
            try await machine.start()
            try await machine.listAll()
        }
    }

    /// Ends all.
    func end() async throws {
        for machine in machines { try await machine.stop(inOrder: false) }
        place.remove()
    }

    // MARK: Work

    /// All machines work at once, each as far as its line lets it, and die now and then.
    func work(rounds: Int) async throws {
        try await each { machine in
            for _ in 0..<rounds {
                let line = try machine.run().line
                line.lose(machine.chance(30) ? 10 : 0)
                if machine.chance(15) { line.cut(true) } else if machine.chance(40) { line.cut(false) }
                if machine.chance(8) { line.die(after: machine.random.withLock { .random(in: 0..<12, using: &$0) }) }
                for _ in 0..<machine.random.withLock({ Int.random(in: 0...3, using: &$0) }) {
                    try await machine.work(expected)
                }
                if machine.chance(75) { try await machine.exchange() }
                if machine.chance(5) {
                    try await machine.stop(inOrder: true)
                    try await machine.start()
                }
            }
        }
    }

    private func each(_ body: @escaping @Sendable (Machine) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for machine in machines { group.addTask { try await body(machine) } }
            try await group.waitForAll()
        }
    }

    // MARK: Rest

    private static let mostRounds = 40

    /// Heals all lines and lets the machines come to rest; then all have the same tree, a new machine too.
    /// - Returns: That tree.
    @discardableResult
    func settle() async throws -> [String: String] {
        for machine in machines {
            let line = try machine.run().line
            line.cut(false)
            line.lose(0)
            line.die(after: .max)
        }
        var quiet = 0
        for _ in 0..<Self.mostRounds where quiet < 3 {
            try await each { machine in
                try await machine.exchange()
                machine.retry()
            }
            quiet = try machines.allSatisfy { try $0.isQuiet } ? quiet + 1 : 0
        }
        guard quiet >= 3 else {
            throw BrokenPromise("there is no rest: \(machines.map(\.unrest).joined(separator: "\n"))")
        }
        return try await compare()
    }

    private func compare() async throws -> [String: String] {
        let fresh = try Machine(machines.count, of: place, log: log, seed: seed, skew: 0)
        try await fresh.start()
        let wanted = try await fresh.tree()
        try await fresh.stop(inOrder: true)
        for machine in machines {
            let found = try await machine.tree()
            for path in Set(found.keys).union(wanted.keys).sorted() where found[path] != wanted[path] {
                throw BrokenPromise(
                    "\(path): machine \(machine.number) has \(found[path] ?? "nothing"), the storage "
                        + "\(wanted[path] ?? "nothing")")
            }
        }
        return wanted
    }

    // MARK: Verdict

    /// What is lost, or there twice.
    func faults(_ tree: [String: String]) -> [String] {
        let places = Dictionary(grouping: tree.filter { !$0.key.hasSuffix("/") }, by: \.value)
        let lost = expected.contents.filter { places[$0.key] == nil && !log.mayBeLost($0.key) }.map { content, place in
            "lost: \(content), written to \(place)"
        }
        let isBlind = place.kind != .directory
        let twice = places.filter { $0.value.count > 1 && !(isBlind && log.mayBeDoubled($0.key)) }
        let doubled = twice.map { content, files in
            "\(content) is \(files.map(\.key).sorted().joined(separator: " and "))"
        }
        return (lost + doubled).sorted()
    }

    /// What is lost as the storage's strength lets it be.
    func casualties(_ tree: [String: String]) -> [String] {
        let there = Set(tree.values)
        return expected.contents.keys.filter { !there.contains($0) && log.mayBeLost($0) }.sorted()
    }

    /// What was done, for a person who looks for a fault.
    var story: String {
        (expected.words + ["---- in the storage:"] + log.all.map(\.description)).joined(separator: "\n")
    }
}

extension Machine {
    /// Tries again what failed.
    func retry() { (try? run())?.engine.retryAll() }
}
