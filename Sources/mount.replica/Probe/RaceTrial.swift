import PathStore
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport

/// Two clients that repeatedly make the same change at the same time: if the store promises one winner, there has to be
/// one.
struct RaceTrial {
    let first: any PathStorage
    let second: any PathStorage
    var rounds = 10

    /// How often reading a content is tried.
    private static let reads = 3

    /// How a store handles one kind of change made by two clients at the same time.
    private struct Score {
        var (one, both, none) = (0, 0, 0)
        /// The number of rounds after which the content was not the winner's.
        var other = 0
        var error: PathStorageError?

        mutating func add(_ outcomes: [PathStorageError?]) {
            switch outcomes.count(where: { $0 == nil }) {
            case 0:
                none += 1
                error = outcomes.compactMap { $0 }.first
            case 1: one += 1
            default: both += 1
            }
        }
    }

    func run() async throws -> [ProbeFinding] {
        let properties = first.properties
        return [
            try await finding(
                "new files", properties.createStrength, "another client's new file", creates),
            try await finding(
                "replacing", properties.replaceStrength, "another client's content", replacements),
            try await finding("renaming", properties.moveStrength, "another client's file", moves),
        ]
    }

    private func finding(
        _ topic: String, _ strength: PathStorageProperties.Strength, _ loss: String,
        _ race: () async throws -> Score
    ) async throws -> ProbeFinding {
        let score = try await race()
        if let error = score.error, score.none == rounds {
            return ProbeFinding(topic, .broken, "no client succeeded: \(ProbeText.words(error))")
        }
        // Without atomic preconditions the last writer wins, whatever was answered.
        if score.other > 0, strength == .atomic {
            return ProbeFinding(
                topic, .broken,
                "in \(score.other) of \(rounds) rounds the content was not the winner's")
        }
        switch strength {
        case .atomic where score.both == 0:
            return ProbeFinding(
                topic, .kept, "of two concurrent changes one wins, the other fails (\(rounds) rounds)")
        case .atomic:
            return ProbeFinding(
                topic, .broken,
                "the store declares that one of two concurrent changes wins: both did in \(score.both) of \(rounds) rounds"
            )
        case .checked:
            return ProbeFinding(
                topic, .weak,
                "checked right before: another client's change in between is lost (seen in \(score.both + score.other) of \(rounds) rounds)"
            )
        case .none:
            return ProbeFinding(topic, .weak, "not checked by the store: \(loss) is silently replaced")
        }
    }

    // MARK: The races

    private func creates() async throws -> Score {
        var score = Score()
        for round in 0..<rounds {
            let path = StoragePath([FileName("create-\(round)")])
            async let one = outcome { () async throws in try await Self.write(first, path, "one", .absent)
            }
            async let two = outcome { () async throws in
                try await Self.write(second, path, "two", .absent)
            }
            let outcomes = try await [one, two]
            score.add(outcomes)
            try await checkContent(path, outcomes, &score)
        }
        return score
    }

    private func replacements() async throws -> Score {
        var score = Score()
        for round in 0..<rounds {
            let path = StoragePath([FileName("replace-\(round)")])
            let version = try await Self.write(first, path, "old", .absent).version ?? ""
            async let one = outcome { () async throws in
                try await Self.write(first, path, "one", .version(version))
            }
            async let two = outcome { () async throws in
                try await Self.write(second, path, "two", .version(version))
            }
            let outcomes = try await [one, two]
            score.add(outcomes)
            try await checkContent(path, outcomes, &score)
        }
        return score
    }

    private func moves() async throws -> Score {
        var score = Score()
        for round in 0..<rounds {
            let target = StoragePath([FileName("moved-\(round)")])
            let (from, other) = (
                StoragePath([FileName("a-\(round)")]), StoragePath([FileName("b-\(round)")])
            )
            let version = try await Self.write(first, from, "one", .absent).version
            let otherVersion = try await Self.write(second, other, "two", .absent).version
            async let one = outcome { () async throws in
                try await first.move(from, to: target, version: version)
            }
            async let two = outcome { () async throws in
                try await second.move(other, to: target, version: otherVersion)
            }
            let outcomes = try await [one, two]
            score.add(outcomes)
            try await checkContent(target, outcomes, &score)
        }
        return score
    }

    /// Checks that the content is what the only winner wrote: a storage without preconditions may have made one of both that
    /// nobody can read.
    private func checkContent(_ path: StoragePath, _ outcomes: [PathStorageError?], _ score: inout Score)
        async throws
    {
        guard outcomes.count(where: { $0 == nil }) == 1 else { return }
        let wanted = outcomes[0] == nil ? "one" : "two"
        var found: [UInt8]?
        for _ in 0..<Self.reads where found == nil {
            // Any other error occurs again in the next round.
            found = try? await Self.content(second, path)
        }
        if found != Array(wanted.utf8) { score.other += 1 }
    }

    /// - Returns: Nil for the winner.
    private func outcome(_ body: () async throws -> PathEntry) async throws -> PathStorageError? {
        do {
            _ = try await body()
            return nil
        } catch let error as PathStorageError {
            return error
        }
    }

    @discardableResult
    static func write(
        _ storage: any PathStorage, _ path: StoragePath, _ text: String, _ condition: WriteGuard,
        _ attributes: PathAttributes = PathAttributes()
    ) async throws -> PathEntry {
        try await write(storage, path, Array(text.utf8), condition, attributes)
    }

    @discardableResult
    static func write(
        _ storage: any PathStorage, _ path: StoragePath, _ content: [UInt8], _ condition: WriteGuard,
        _ attributes: PathAttributes = PathAttributes()
    ) async throws -> PathEntry {
        let outcome = try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            do throws(PathStorageError) {
                return Result<PathEntry, PathStorageError>.success(
                    try await storage.write(
                        path, contents: contents, attributes: attributes, guard: condition))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    static func content(
        _ storage: any PathStorage, _ path: StoragePath, _ range: Range<Int64>? = nil
    ) async throws -> [UInt8] {
        let buffer = ContentBuffer()
        _ = try await storage.read(path, version: nil, range: range, into: buffer)
        return buffer.bytes
    }
}
