import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import SFTPStore

/// A session of calls on OpenSSH's sftp-server, whose connection ends at each of its requests in turn: before it
/// arrives, in the middle of it, when its answer is lost, or in the middle of the answer; or which stops answering.
/// Failed calls are repeated like by the engine. At the end of each step every file exists exactly once, as written.
///
/// In `scripts/test` some requests get one of these faults; `scripts/fault-test` applies all of them to each.
@Suite struct CutConnectionTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isWhole = environment["REPLICA_FAULT_ALL"] != nil
    private static let seed = Int(environment["REPLICA_FAULT_SEED"] ?? "") ?? 1

    /// The fault of the request with this number: the lost answer for half of them, another fault for the rest.
    private static func modes(_ number: Int) -> [String] {
        let others = ["before", "within", "half", "silent", "hung"]
        if isWhole { return ["after"] + others }
        return number % 4 < 2 ? ["after"] : [others[(number / 4 + seed) % others.count]]
    }

    @Test(arguments: ScriptedSession.Act.allCases)
    func aConnectionCutAnywhereLosesAndDuplicatesNothing(_ act: ScriptedSession.Act) async throws {
        let next = Locked((number: Self.isWhole ? 0 : -(Self.seed % 2), left: [String](), isOver: false))
        let count = Locked(0)
        @Sendable func take() -> (Int, String)? {
            next.withLock { next in
                if next.isOver { return nil }
                if next.left.isEmpty {
                    // Each has its own server, and hashing large contents takes long: `scripts/test` runs some of them.
                    next.number += Self.isWhole ? 1 : act == .large ? 5 : 2
                    next.left = Self.modes(next.number)
                }
                return (next.number, next.left.removeFirst())
            }
        }
        // As many at a time as the processors can serve.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while let (number, mode) = take() {
                        let wasCut = try await CutGround(mode, number).run(act)
                        count.withLock { $0 += wasCut ? 1 : 0 }
                        // There are not as many requests.
                        if !wasCut { next.withLock { $0.isOver = true } }
                    }
                }
            }
            try await group.waitForAll()
        }
        // There were as many requests as such a session has.
        #expect(count.withLock { $0 } > 10)
    }
}

extension CutConnectionTests {
    /// After it returns, none of our temporary files is visible, regardless of where the connection ended.
    @Test func syncedFilesLeaveNothing() async throws {
        var number = 0
        repeat { number += 1 } while try await CutGround("before", number).makesDurable()
        #expect(number > 20)
    }
}

/// One such session.
private final class CutGround: Sendable {
    private let (mode, number): (String, Int)
    private let home: TemporaryFolder
    private var folder: String { home.path.string }
    private var mark: String { folder + "/mark" }
    private var root: String { folder + "/root" }
    private let past = Locked<Int64>(0)

    init(_ mode: String, _ number: Int) throws {
        (self.mode, self.number) = (mode, number)
        home = try TemporaryFolder()
        try home.makeFolder("root")
        try home.write("", to: "mark")
    }

    /// - Returns: Whether the connection was cut.
    func run(_ act: ScriptedSession.Act) async throws -> Bool { try await cut { try await session($0, act) } }

    /// The same for another session: a folder, and its durability.
    func makesDurable() async throws -> Bool {
        try await cut { [self] storage in
            let folder = StoragePath([FileName("folder")])
            try await again {
                do throws(PathStorageError) {
                    _ = try await storage.make(folder, kind: .folder, attributes: PathAttributes())
                } catch .taken {
                    return
                } catch .unreachable {
                    throw RemoteStoreError.serverUnreachable
                }
            }
            try await again {
                do throws(PathStorageError) { try await storage.makeDurable() } catch .unreachable {
                    throw RemoteStoreError.serverUnreachable
                }
            }
            try expect(try FileManager.default.contentsOfDirectory(atPath: self.folder + "/root"), ["folder"])
        }
    }

    private func cut(_ session: (SFTPStorage) async throws -> Void) async throws -> Bool {
        var command = SSHCommand()
        command.program = FilePath(#filePath).removingLastComponent().appending("cutting-ssh").string
        command.arguments = [mode, "\(number)", mark]
        var limits = ConnectionLimits()
        limits.steady = .zero
        // No more is waited for than these faults need: a busy machine may take as long to answer.
        if ["silent", "hung"].contains(mode) { limits.silence = .seconds(2) }
        let (chosen, connection) = (command, limits)
        let address = try SFTPAddress("cut\(folder)/root")
        let storage = try await again { () async throws in
            do throws(SFTPFailure) {
                // The large file is sent in parts.
                let notes = UploadNotes(folder: folder, parted: 100_000, part: 65_536)
                return try await SFTPStorage.open(address, command: chosen, limits: connection, notes: notes)
            } catch {
                throw RemoteStoreError.serverUnreachable
            }
        }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await session(storage)) } catch { outcome = .failure(error) }
        await storage.close()
        do { try outcome.get() } catch { Issue.record("\(mode) \(number): \(error)") }
        return !FileManager.default.fileExists(atPath: mark)
    }

    /// One part of a session, each step checked from both sides.
    private func session(_ storage: SFTPStorage, _ act: ScriptedSession.Act) async throws {
        var options = PathStoreOptions.alwaysListing
        // No other client writes here, so waiting for the clock's grain is unnecessary.
        options.now = { [past] in past.withLock { $0 } }
        options.sleep = { [past] passed in past.withLock { $0 += passed } }
        let store = try PathStore(storage, folder: folder, options: options)
        let outside = ScriptedSession.Outside { [root] in try Self.files(in: root) }
        try await ScriptedSession(store, outside, large: 262_000) { _ in }.play(act)
        try await again { try await store.makeDurable() }
        // The server's disk, without any remaining temporary files.
        let isTidy = try await eventually { [root] in
            // The next connection removes the remains of the former one.
            _ = try? await storage.entry(at: .root)
            return try FileManager.default.contentsOfDirectory(atPath: root).isEmpty
        }
        try expect(isTidy, true)
    }

    /// The server's disk: the contents of files, and the targets of symlinks. Our temporary files may be left.
    private static func files(in root: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        let disk = FileManager.default
        for path in try disk.subpathsOfDirectory(atPath: root) where !path.contains(".replica-tmp-") {
            let place = "\(root)/\(path)"
            if let target = try? disk.destinationOfSymbolicLink(atPath: place) {
                files[path] = Array(target.utf8)
            } else if let content = try? Data(contentsOf: URL(filePath: place)) {
                files[path] = Array(content)
            }
        }
        return files
    }

    private func expect<Value: Equatable>(_ found: Value, _ wanted: Value) throws {
        if found != wanted { throw BrokenPromise("\(found) instead of \(wanted)".prefix(300).description) }
    }

    private func again<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        func mayPass(_ error: any Error) -> Bool { (error as? RemoteStoreError) == .serverUnreachable }
        return try await eventually(despite: mayPass, body)
    }
}
