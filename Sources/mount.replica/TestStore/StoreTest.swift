import Foundation
import Glibc
import Logging
import PathStore
import ProcessStore
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport
import SFTPStore
import SystemPackage

/// `replica test-store URL`: tests every promise of a store, in a folder that is removed afterwards.
struct StoreTest {
    /// The result of one promise.
    enum Outcome: Equatable {
        case kept
        case skipped
        case broken(String)

        var word: String {
            switch self {
            case .kept: "kept"
            case .skipped: "skipped"
            case .broken: "BROKEN"
            }
        }
    }

    /// Tests the store and ends the process: with 0 if all are kept.
    static func main(_ url: StoreURL, only: String, _ options: MountOptions) -> Never {
        let test = StoreTest(url: url, only: only, credentials: options.domain.credentials) { line in
            StoreTask.say(line)
        }
        StoreTask.main { try await test.run() }
    }

    let url: StoreURL
    /// Text in the names of the promises; empty for all.
    let only: String
    let credentials: FilePath?
    /// Prints a line.
    let say: @Sendable (String) -> Void

    /// The timeout of one promise, in seconds.
    private static let longest: Duration = .seconds(120)

    /// - Returns: Whether the store keeps all promises that apply to it.
    /// - Throws: Why it can't be tested.
    func run() async throws -> Bool {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let (first, second) = (try await open(in: folder.path, "one"), try await open(in: folder.path, "two"))
        let outcome: Result<Bool, any Error>
        do { outcome = .success(try await run(first.storage, second.storage, folder.path)) } catch {
            outcome = .failure(error)
        }
        await first.close()
        await second.close()
        return try outcome.get()
    }

    /// One of the test's two clients.
    private struct Client {
        let storage: any PathStorage
        let close: @Sendable () async -> Void
    }

    private func open(in folder: FilePath, _ name: String) async throws -> Client {
        let own = folder.appending(name)
        guard mkdir(own.string, 0o700) == 0 else { throw Errno(rawValue: errno) }
        do throws(StoreFailure) {
            if url.scheme == SFTPStoreFactory.scheme {
                let storage = try await SFTPStoreFactory.storage(url, credentials: credentials)
                return Client(storage: storage) { await storage.close() }
            }
            let opened = try await ProgramStoreFactory.process(
                url, folder: own, credentials: credentials, Logger(label: "store"))
            guard case .path(let storage) = opened else {
                await opened.close()
                throw .refused("stores of the level `item` can't be tested yet")
            }
            return Client(storage: storage) { await storage.close() }
        } catch {
            throw ControlFailure(.badStore, "\(url): \(error.message)")
        }
    }

    private func run(_ first: any PathStorage, _ second: any PathStorage, _ folder: FilePath) async throws -> Bool {
        let top = StoragePath([FileName("replica-test-\(UInt64.random(in: 0 ... .max))")])
        _ = try await first.make(top, kind: .folder, attributes: PathAttributes())
        var counts: [String: Int] = [:]
        for (number, promise) in StorePromises.all.enumerated() where only.isEmpty || promise.name.contains(only) {
            let begin = ContinuousClock.now
            let outcome = await hold(promise, number, first, second, top, folder)
            counts[outcome.word, default: 0] += 1
            say(line(promise.name, outcome.word, .now - begin))
            if case .broken(let finding) = outcome { say("    \(finding)") }
        }
        try await PathClient(storage: second).delete(top)
        let broken = counts["BROKEN"] ?? 0
        say("\(counts["kept"] ?? 0) kept, \(counts["skipped"] ?? 0) skipped, \(broken) broken")
        return broken == 0
    }

    private func line(_ name: String, _ word: String, _ time: Duration) -> String {
        let seconds = String(format: "%.1f s", time / .seconds(1))
        return name.padding(toLength: max(name.count, 78), withPad: " ", startingAt: 0)
            + " " + word.padding(toLength: 8, withPad: " ", startingAt: 0) + " " + seconds
    }

    private func hold(
        _ promise: StorePromise, _ number: Int, _ first: any PathStorage, _ second: any PathStorage, _ top: StoragePath,
        _ folder: FilePath
    ) async -> Outcome {
        let own = top.appending(FileName("\(number)"))
        let table = folder.appending("table-\(number)")
        do {
            _ = try await first.make(own, kind: .folder, attributes: PathAttributes())
            guard mkdir(table.string, 0o700) == 0 else { throw Errno(rawValue: errno) }
            let other = PathClient(storage: ScopedStorage(storage: second, folder: own))
            let subject = try await StoreSubject(other: other) {
                try PathStore(
                    ScopedStorage(storage: first, folder: own), folder: table.string, options: .alwaysListing)
            }
            guard promise.applies(subject.store.properties) else { return .skipped }
            return try await within(Self.longest) { try await promise.check(subject) }
        } catch {
            return .broken("\(error)")
        }
    }

    private func within(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws -> Outcome
    {
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            group.addTask {
                try await body()
                return .kept
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return .broken("it takes longer than \(limit)")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .skipped
        }
    }
}
