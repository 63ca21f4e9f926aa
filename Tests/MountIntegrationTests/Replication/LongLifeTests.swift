import Foundation
import Glibc
import ReplicaTestSupport
import Testing

/// A user at work for a while, and other clients in the store: random system calls, some immediately and some after
/// pauses in which all or half of the changes are sent. A plain folder gets the same calls. Whenever both sides are
/// idle, mount, store and plain folder are equal, and no change was attributed to another client. Every other time
/// everything is then evicted.
///
/// `REPLICA_LIFE_SEED` is the first of two seeds.
@Suite struct LongLifeTests {
    private static var first: Int {
        ProcessInfo.processInfo.environment["REPLICA_LIFE_SEED"].flatMap { Int($0) } ?? 1
    }

    @Test(arguments: 0..<2) func changesOnOneSideAfterTheOtherConverge(number: Int) async throws {
        try await Self.live(seed: Self.first + number) { trial, random, round in
            let place = round % 3 == 0 ? trial.store : trial.mount
            return [try await Life(place, trial, &random, names).work(80)]
        }
    }

    @Test(arguments: 0..<2) func bothSidesConvergeDespiteKills(number: Int) async throws {
        try await Self.live(seed: Self.first + number) { trial, random, round in
            var traces: [Life.Trace] = []
            for part in 0..<4 {
                if part > 0 { try await trial.shell("kill_daemon; mount_it") }
                traces.append(try await Life(trial.mount, trial, &random, names, canLink: true).work(20))
            }
            return traces
        }
    }

    @Test(arguments: 0..<2) func concurrentChangesOnBothSidesConverge(number: Int) async throws {
        try await Self.live(seed: Self.first + number) { trial, random, round in
            let here = Life(trial.mount, trial, &random, ["a", "b"])
            let there = Life(trial.store, trial, &random, ["c", "d"])
            async let ours = here.work(60)
            async let theirs = there.work(60)
            return try await [ours, theirs]
        }
    }

    private static func live(
        seed: Int, _ round: (Trial, inout SeededGenerator, Int) async throws -> [Life.Trace]
    ) async throws {
        try await Trial.run { trial in
            try await trial.shell("begin; mkdir plain")
            var random = SeededGenerator(UInt64(seed))
            for number in 1...6 {
                let traces = try await round(trial, &random, number)
                do {
                    if traces.contains(where: \.isUnlike) { throw ScriptFailed() }
                    try await trial.shell(comparison)
                    if number % 2 == 0 { try await trial.shell("replica forget \"$MNT\" >/dev/null") }
                } catch {
                    Issue.record("seed \(seed), round \(number):\n\(traces.map(\.text).joined(separator: "\n\n"))")
                    throw error
                }
            }
        }
    }

    private static let comparison = """
        settle
        # Without what a daemon that was killed left of its work: another takes that away an hour later.
        all() { find . -mindepth 1 -name '.replica-tmp-*' -prune -o "$@"; }
        content() { (cd "$1" && all -type f -print0 | sort -z | xargs -0r md5sum; all -type d -print | sort
            all -type l -printf '%p %l\\n' | sort); }
        metadata() { (cd "$1" && all \\( -type f -printf '%p %T@ %m\\n' \\) -o \\( -type d -printf '%p %m\\n' \\) |
            sed -E 's/ [0-9]+([0-9]{3})$/ \\1/' | sort
            getfattr -R -P -d -m '^user\\.one$' . 2>/dev/null |
                awk 'BEGIN { RS = "" } !/replica-tmp/ { print $3, $4 }' | sort); }
        diff <(content plain) <(content "$MNT")
        diff <(content plain) <(content "$STORE")
        diff <(metadata "$MNT") <(metadata "$STORE")
        # What is known of each content is what the store says of it: else the next change would meet a stranger's.
        replica status d >/dev/null
        known() { sqlite3 -separator ' ' "$STATE/replica.db" "
            WITH RECURSIVE at (number, path) AS (SELECT 1, '.' UNION ALL
                SELECT item.number, at.path || '/' || item.baseName FROM item JOIN at ON item.baseParent = at.number
                WHERE item.number != 1 AND item.flags & 1 = 0)
            SELECT at.path, baseContent FROM at JOIN item USING (number) WHERE kind = 0" | sort; }
        stored() { (cd "$STORE"; all -type f -printf '%p %s %T@ %i\n') | while read -r path size time inode; do
            time=${time/./}; printf '%s %x.%x.%x\n' "$path" "$size" "${time%?}" "$inode"; done | sort; }
        known >known; stored >stored; diff known stored
        """
}

/// A few, so that changes meet earlier ones.
private let names = ["a", "b", "c", "d"]

/// Changes of one program, below a few top-level names of the mount and of a plain folder.
private struct Life: Sendable {
    /// The calls, and whether the last one had a different result than in the plain folder.
    struct Trace: Sendable {
        var lines: [String] = []
        var isUnlike = false
        var text: String { lines.joined(separator: "\n") }
    }

    private let place: String
    private let plain: String
    private let tops: [String]
    /// Names of one file are separate files to other clients.
    private let canLink: Bool
    private let seed: UInt64

    init(_ place: String, _ trial: Trial, _ random: inout SeededGenerator, _ tops: [String], canLink: Bool = false) {
        self.place = place
        plain = trial.folder + "/plain"
        (self.tops, self.canLink) = (tops, canLink)
        seed = random.next()
    }

    func work(_ count: Int) async throws -> Trace {
        try await onThread {
            var random = SeededGenerator(seed)
            let (ours, native) = (Caller(place), Caller(plain))
            var trace = Trace()
            for _ in 0..<count {
                for call in random.calls(below: tops, canLink) {
                    let (left, right) = (ours.make(call), native.make(call))
                    trace.lines.append("\("\(call)".prefix(160)): \(right)")
                    guard left == right else {
                        trace.lines.append("but in \(place): \(left)")
                        trace.isUnlike = true
                        return trace
                    }
                }
                if random.below(12) == 0 { usleep(UInt32(random.below(1_500_000))) }
            }
            return trace
        }
    }
}

extension SeededGenerator {
    private mutating func place(_ tops: [String]) -> Name {
        let top = pick(tops)
        return Name(below(3) == 0 ? top : "\(top)/\(pick(names))")
    }

    /// A step of a program: one call, or several.
    fileprivate mutating func calls(below tops: [String], _ canLink: Bool) -> [Call] {
        let place = place(tops)
        switch below(canLink ? 17 : 16) {
        case 0..<2: return [.names(.mkdir(place, 0o755))]
        case 2..<5: return save(place, O_CREAT | O_TRUNC)
        case 5: return save(place, O_APPEND)
        case 6..<8: return [.names(.times(place, time(), time()))]
        case 8: return [.names(.chmod(place, pick([0o644, 0o600, 0o755])))]
        case 9..<11: return [.names(.unlink(place))]
        case 11: return [.names(.rmdir(place))]
        case 12: return [.names(.rename(place, self.place(tops), flags: pick([0, 0, 1, 2])))]
        case 13: return [.names(.symlink(self.place(tops), place))]
        case 14: return [.names(.setXattr(place, "user.one", bytes(below(30)), flags: 0))]
        case 16: return [.names(.link(self.place(tops), place))]
        default:
            let beside = Name(place.bytes + Array(".new".utf8))
            return save(beside, O_CREAT | O_EXCL) + [.names(.rename(beside, place, flags: 0))]
        }
    }

    private mutating func save(_ place: Name, _ flags: Int32) -> [Call] {
        [.open(0, place, O_WRONLY | flags, 0o644), .write(0, bytes(below(3000)), at: nil), .close(0)]
    }

    private mutating func time() -> timespec {
        timespec(tv_sec: 1_000 + below(1_000_000), tv_nsec: below(1_000_000_000))
    }
}
