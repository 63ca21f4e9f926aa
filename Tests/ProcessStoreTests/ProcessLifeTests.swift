import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ProcessStore

/// Start, silence, cancellation and end of a store's process.
@Suite(.serialized) struct ProcessLifeTests {
    private let file = StoragePath([FileName("file")])

    @Test(arguments: ["silence", "still-at-it", "deaf"])
    func aSilentCallTimesOut(fault: String) async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("once-" + fault) {
                ($0.silence, $0.answerToCancel) = (.milliseconds(700), .milliseconds(500))
            }
            await #expect(throws: PathStorageError.unreachable("the store timed out")) {
                _ = try await store.entry(at: file)
            }
            // It does not answer the cancellation either, and is therefore killed. The next one has as little time to answer.
            let isNew = try await eventually {
                (try? await store.entry(at: file))?.size == 10 && rude.notes("runs").count > 1
            }
            #expect(isNew)
            await store.close()
        }
    }

    @Test func cancellationDoesNotWait() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("after-cancel")
            let outcome = Locked<PathStorageError?>(nil)
            let call = Task {
                do throws(PathStorageError) { _ = try await store.entry(at: file) } catch {
                    outcome.withLock { $0 = error }
                }
            }
            #expect(try await eventually { !rude.notes("asked").isEmpty })
            call.cancel()
            #expect(try await eventually { outcome.withLock { $0 } == .cancelled })
            // A late answer belongs to its own call only.
            #expect(try await eventually { !rude.notes("cancelled").isEmpty })
            #expect(rude.notes("cancelled") == ["1"])
            try await Task.sleep(for: .milliseconds(200))
            #expect(rude.notes("runs").count == 1 && rude.log.lines == [])
            await store.close()
        }
    }

    @Test func aProgramThatIgnoresACancellationIsStopped() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("ignores-cancel") { $0.answerToCancel = .milliseconds(500) }
            let call = Task { () async -> Bool in (try? await store.entry(at: file)) == nil }
            #expect(try await eventually { !rude.notes("asked").isEmpty })
            call.cancel()
            #expect(await call.value)
            #expect(try await eventually { !rude.log.lines.isEmpty })
            #expect(rude.log.lines == ["the store is stopped: the store does not answer"])
            await store.close()
        }
    }

    @Test func answersMayComeInAnyOrder() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("backwards")
            let answers = try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
                for number in 0..<4 {
                    let path = number % 2 == 0 ? file : StoragePath([FileName("none \(number)")])
                    group.addTask { (number, try await store.entry(at: path) != nil) }
                }
                return try await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
            }
            #expect(answers == [0: true, 1: false, 2: true, 3: false])
            await store.close()
        }
    }

    /// All calls end with the process, and the pauses between runs grow.
    @Test func aDeadProgramFailsItsCallsAndIsReaped() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("death") { $0.firstPause = .seconds(3_600) }
            let failures = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 { group.addTask { (try? await store.entry(at: file)) == nil } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(failures == 4)
            for _ in 0..<20 {
                _ = try? await store.entry(at: file)
                try await Task.sleep(for: .milliseconds(50))
            }
            // One immediate start, none in the pause after the second failure.
            #expect(rude.notes("runs").count == 2)
            await store.close()
        }
    }

    @Test func anIdleProgramIsStoppedAndRestarted() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("none") { $0.idle = .milliseconds(300) }
            #expect(try await store.entry(at: file) != nil)
            try await rude.expectNothingLeft()
            let count = rude.notes("runs").count
            #expect(try await store.entry(at: file) != nil)
            // A busy machine may be so late with the call that the store is let go once more.
            #expect(rude.notes("runs").count > count && rude.log.lines == [])
            await store.close()
        }
    }

    @Test func aProgramWithOtherPropertiesIsNotUsed() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("other-properties")
            #expect(try await store.entry(at: file) != nil)
            kill(try #require(rude.notes("runs").first.flatMap { pid_t($0) }), SIGKILL)
            try await rude.expectNothingLeft()
            // A call may still fail because of the first run's end.
            let isAsked = try await eventually {
                await #expect(throws: PathStorageError.self) { _ = try await store.entry(at: file) }
                return rude.notes("runs").count > 1
            }
            #expect(isAsked)
            await store.close()
        }
    }

    @Test(arguments: ["stubborn", "leaves-children"])
    func noProcessOrFileIsLeft(fault: String) async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open(fault)
            await store.close()
            await #expect(throws: PathStorageError.unreachable("the store is closed")) {
                _ = try await store.entry(at: file)
            }
        }
    }

    @Test func tooManySignalsEndTheRun() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("signal-flood")
            #expect(try await eventually { !rude.log.lines.isEmpty })
            #expect(rude.log.lines == ["the store is stopped: the store broke the protocol: too many signals"])
            await store.close()
        }
    }

    @Test func tooMuchErrorOutputIsTruncated() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("error-flood")
            #expect(try await store.entry(at: file) != nil)
            await store.close()
            let lines = rude.log.lines
            #expect(lines.count <= 102 && lines.contains("store: 19900 more lines were omitted"))
            #expect(lines.allSatisfy { $0.utf8.count < 520 && !$0.unicodeScalars.contains("\u{1B}") })
        }
    }

    /// The descriptors of a run are closed with it, regardless of how it ended.
    @Test func noDescriptorIsLeft() async throws {
        let before = Set(Self.ofProcessesThatAreGone())
        for fault in ["hello-garbage", "hello-death", "none", "death", "symlink", "closes", "stubborn"] {
            try await RudeStore.run { rude in
                if let store = try? await rude.open(fault) {
                    _ = try? await store.read(file, version: nil, range: nil, into: Bytes())
                    await store.close()
                }
                // Threads close theirs a moment later.
                let isClosed = try await eventually { Self.isClosed(rude, before) }
                #expect(isClosed)
            }
        }
    }

    /// Nothing is open of its folder, nor of processes that are gone, but for what others had open before.
    private static func isClosed(_ rude: RudeStore, _ before: Set<String>) -> Bool {
        let targets = names().map { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        guard !targets.contains(where: { $0?.hasPrefix(rude.folder.string) == true }) else { return false }
        return before.isSuperset(of: ofProcessesThatAreGone())
    }

    private static func names() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    }

    private static func ofProcessesThatAreGone() -> [String] {
        names().filter { name in
            let info = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)
            return info?.contains("\nPid:\t-1\n") == true
        }
    }
}
