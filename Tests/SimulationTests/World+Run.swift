import Glibc
import SystemPackage
import Threads

@testable import ReplicaModel
@testable import ReplicaTestSupport

extension World {
    private static let mostCalls = 2000

    /// Whether the calls of the store in one step are still within reason.
    func isInTime() -> Bool {
        let count = script.withLock { script in
            script.calls += 1
            return script.calls
        }
        guard count == Self.mostCalls else { return count < Self.mostCalls }
        rules.violate("calls of the store without an end")
        return false
    }

    /// Makes one step happen.
    func perform(_ step: Step) async throws {
        script.withLock { $0.calls = 0 }
        switch step {
        case .local(let step): try await live { daemon in await self.perform(step, daemon) }
        case .remote(let step): perform(step)
        case .receive:
            say("  receive")
            let before = knownHere()
            try await unmoved {
                try await self.live { daemon in
                    daemon.engine.askNow()
                    await daemon.engine.receive()
                }
            }
            checkGuard(before)
        case .send:
            say("  send")
            pass(2)
            try await unmoved { try await self.live { daemon in _ = await daemon.engine.send() } }
        case .record: try daemon.replica.record()
        case .pass(let seconds): pass(Double(seconds))
        case .setClock(let seconds): clockSet.withLock { $0 += Double(seconds) }
        case .fault, .dieAtCall, .localDuringCall, .remoteDuringCall, .batchSize, .shuffleBatches, .expireAnchors,
            .refuse:
            prepare(step)
        case .crash: try crash()
        case .crashAfterApplying: try await crashAfterApplying()
        case .restart:
            say("  restart")
            try restart()
        case .copyDatabase:
            say("  copy the database")
            try copies.make("old")
        case .oldDatabase: try startOverCopy()
        case .evict, .fetch, .list: try await upkeep(step)
        case .approve, .giveAgain, .pin, .unpin, .keep: try await person(step)
        }
        settleCasualties()
        for violation in rules.violations { throw Violation(description: violation) }
    }

    private func prepare(_ step: Step) {
        switch step {
        case .fault(let method, let moment, let error, let spared):
            script.withLock {
                let isPassing = error == .serverUnreachable || error == .cancelled
                $0.faults.append(
                    Script.Fault(
                        method: method, moment: moment, error: error, spared: spared,
                        isOfStorage: paths != nil && isPassing && spared % 2 == 0))
            }
        case .dieAtCall(let spared, let moment): alarm(spared, moment, .death)
        case .localDuringCall(let spared, let moment, let step): alarm(spared, moment, .local(step))
        case .remoteDuringCall(let spared, let moment, let step): alarm(spared, moment, .remote(step))
        case .batchSize(let size): store.setBatchSize(size)
        case .shuffleBatches(let seed): script.withLock { $0.shuffle = SeededGenerator(seed: seed) }
        case .expireAnchors:
            store.expireAnchors()
            say("  anchors expire")
        case .refuse(let item, let times):
            let all = store.identifiers
            guard !all.isEmpty else { return }
            script.withLock { $0.refusals[all[item % all.count]] = times }
            say("  \(all[item % all.count]) is refused \(times) times")
        default: break
        }
    }

    private func alarm(_ spared: Int, _ moment: FaultyStore.Moment, _ event: Script.Event) {
        script.withLock { $0.alarms.append(Script.Alarm(spared: spared, moment: moment, event: event)) }
    }

    private func upkeep(_ step: Step) async throws {
        switch step {
        case .evict(let file):
            guard let file = pickFile(file, daemon) else { return }
            do throws(EvictionRefusal) {
                try daemon.replica.evictFile(file.number)
                say("  evict \(file.path)")
            } catch {
                say("  \(file.path) is not evicted: \(error)")
            }
        case .fetch(let file, let third):
            guard let file = pickFile(file, daemon) else { return }
            try await live { daemon in
                do throws(Errno) {
                    try await daemon.engine.hydrate(file.number, range: third == 0 ? nil : Self.range(third))
                    self.say("  fetch \(file.path)")
                } catch {
                    self.say("  \(file.path) is not fetched: \(error)")
                }
            }
        case .list(let folder):
            let folder = pickFolder(folder, daemon)
            try await live { daemon in
                do throws(Errno) {
                    try await daemon.engine.list(folder.number)
                    self.say("  list \(folder.path)")
                } catch {
                    self.say("  \(folder.path) is not listed: \(error)")
                }
            }
        default: break
        }
    }

    private static func range(_ third: Int) -> Range<Int64> { Int64(third - 1) * 100_000..<Int64(third) * 100_000 }
}

/// What must never be.
struct Violation: Error, CustomStringConvertible {
    var description: String
}
