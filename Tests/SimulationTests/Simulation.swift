import SystemPackage

/// Runs worlds, and shrinks those that fail.
enum Simulation {
    struct Outcome: Sendable {
        var seed: UInt64
        var profile: Profile
        var isOfPaths = false
        var steps: [Step]
        /// The failure; nil if there was none.
        var failure: String?
        var history: [String]

        private var nature: String { isOfPaths ? ", paths: \(PathRemote.Nature(seed: seed))" : "" }

        /// For a person.
        var report: String {
            "seed \(seed), \(profile)\(nature), \(steps.count) steps: \(failure ?? "passed")\n"
                + history.joined(separator: "\n")
        }
    }

    /// Which profile a seed has: every fourth the same.
    static func profile(of seed: UInt64) -> Profile { Profile.common[Int(seed % UInt64(Profile.common.count))] }

    /// Runs a world with this seed and checks it.
    /// - Parameter profile: Another than the seed's own.
    static func run(
        seed: UInt64, as profile: Profile? = nil, ofPaths: Bool = false, steps count: Int = 60
    ) async -> Outcome {
        let profile = profile ?? self.profile(of: seed)
        var maker = StepMaker(seed: seed, profile: profile)
        return await run(seed, profile, maker.steps(count), ofPaths: ofPaths)
    }

    static func run(
        _ seed: UInt64, _ profile: Profile, _ steps: [Step], ofPaths: Bool = false
    ) async -> Outcome {
        var outcome = Outcome(seed: seed, profile: profile, isOfPaths: ofPaths, steps: steps, history: [])
        do {
            let world = try World(seed: seed, profile: profile, isOfPaths: ofPaths)
            do {
                for (index, step) in steps.enumerated() {
                    world.say("\(index). \(step)")
                    try await world.perform(step)
                }
                try await world.judge(profile)
            } catch {
                outcome.failure = "\(error)"
            }
            outcome.history = world.lines
            await world.end()
        } catch {
            outcome.failure = "no world: \(error)"
        }
        return outcome
    }

    /// Removes the steps that the failure does not need.
    static func shrink(_ failed: Outcome) async -> Outcome {
        var best = failed
        var size = max(1, best.steps.count / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < best.steps.count {
                var steps = best.steps
                steps.removeSubrange(start..<min(start + size, steps.count))
                let outcome = await run(best.seed, best.profile, steps, ofPaths: best.isOfPaths)
                if outcome.failure != nil, isAlike(outcome, failed) {
                    best = outcome
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if size == 1, !hasShrunk { return best }
            size = max(1, size / 2)
        }
    }

    /// Whether both went wrong in the same way, whatever the names.
    private static func isAlike(_ left: Outcome, _ right: Outcome) -> Bool {
        kind(of: left) == kind(of: right)
    }

    static func kind(of outcome: Outcome) -> String {
        let failure = outcome.failure ?? ""
        let known = [
            "lost:", "without an end", "only the store", "only the tree", "no rest", "nobody removed", "created again",
            "the restart",
            "set aside", "just there", "was moved", "the guard", "the tree has", "mode ", "two kinds", "cannot be",
            "not here", "overwritten",
        ]
        return known.first { failure.contains($0) } ?? "other"
    }
}
