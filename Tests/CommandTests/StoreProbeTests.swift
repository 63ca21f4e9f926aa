import DirectoryStore
import Glibc
import PathStore
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica

/// `replica probe` tests a store's declared properties.
@Suite struct StoreProbeTests {
    /// Two clients of a storage in memory.
    private func probe(
        _ storage: MemoryPathStorage, through wrap: (MemoryPathStorage) -> any PathStorage = { $0 }
    ) async throws -> [String: ProbeFinding] {
        let clients = (ProbedStore(storage: wrap(storage)) {}, ProbedStore(storage: wrap(storage)) {})
        let findings = try await StoreProbe.run(clients.0, clients.1)
        #expect(
            try await storage.list(.root, isDeep: false, from: nil).entries.isEmpty, "something is left")
        #expect(Set(findings.map(\.topic)).count == 15)
        return Dictionary(uniqueKeysWithValues: findings.map { ($0.topic, $0) })
    }

    @Test func aTruthfulStorePasses() async throws {
        let found = try await probe(MemoryPathStorage())
        for (topic, finding) in found {
            #expect(finding.verdict != .broken, "\(topic): \(finding.finding)")
        }
        for topic in [
            "names", "contents", "new files", "replacing", "renaming", "two changes", "modes",
            "symbolic links",
        ] {
            #expect(found[topic]?.verdict == .kept, "\(topic)")
        }
    }

    /// Times come from outside, and may have any value.
    @Test func theDifferenceOfExtremeTimesSaturates() {
        let (first, last) = (Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max))
        #expect(RoundTripTrial.distance(first, Timestamp(nanoseconds: 0)) == 1 << 63)
        #expect(RoundTripTrial.distance(first, last) == .max && RoundTripTrial.distance(last, last) == 0)
    }

    /// A store that checks and then writes, but declares that it does so in one step.
    @Test func aFalseDeclarationIsDetected() async throws {
        let found = try await probe(MemoryPathStorage()) { LyingPaths(storage: $0) }
        for topic in ["new files", "replacing"] {
            #expect(found[topic]?.verdict == .broken, "\(topic)")
            #expect(
                found[topic]?.finding.hasPrefix("the store declares that one of two concurrent changes wins: both did")
                    == true)
        }
        #expect(found["renaming"]?.verdict == .kept)
    }

    @Test func aWeakStoreIsNotReportedAsBroken() async throws {
        var properties = PathStorageProperties()
        (properties.createStrength, properties.replaceStrength) = (.checked, .none)
        (properties.keepsModes, properties.keepsSymlinks, properties.isCaseSensitive) = (
            false, false, false
        )
        properties.changeGrain = 1_000_000_000
        let found = try await probe(MemoryPathStorage(properties))
        for (topic, finding) in found {
            #expect(finding.verdict != .broken, "\(topic): \(finding.finding)")
        }
        for topic in ["names", "new files", "replacing", "two changes"] {
            #expect(found[topic]?.verdict == .weak, "\(topic)")
        }
        for topic in ["modes", "symbolic links", "attributes"] {
            #expect(found[topic]?.verdict == .local, "\(topic)")
        }
    }

    /// The last writer wins there, regardless of the answers: the finding says so.
    @Test func aStoreThatChecksBeforeItWritesIsNotReportedAsBroken() async throws {
        var properties = PathStorageProperties()
        (properties.createStrength, properties.replaceStrength) = (.checked, .checked)
        let found = try await probe(MemoryPathStorage(properties)) { LyingPaths(storage: $0, isLate: true) }
        for topic in ["new files", "replacing"] {
            #expect(found[topic]?.verdict == .weak, "\(topic): \(found[topic]?.finding ?? "")")
            #expect(found[topic]?.finding.contains("(seen in 10 of 10 rounds)") == true)
        }
    }

    /// Properties that are declared as kept, but come back changed.
    @Test func lostFeaturesAreDetected() async throws {
        let found = try await probe(MemoryPathStorage()) { ForgetfulPaths(storage: $0) }
        for topic in ["times", "modes", "two changes"] {
            #expect(found[topic]?.verdict == .broken, "\(topic)")
        }
        #expect(found["contents"]?.verdict == .kept)
    }

    @Test func aFullStoreIsNotProbed() async throws {
        let storage = MemoryPathStorage()
        let clients = (0..<2).map { _ in ProbedStore(storage: FullPaths(storage: storage)) {} }
        let failure = await #expect(throws: ControlFailure.self) { try await StoreProbe.run(clients[0], clients[1]) }
        #expect(failure == ControlFailure(.badStore, "the store can't be probed: the disk is full"))
    }

    @Test func aDirectoryIsProbed() async throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("store")
        let url = try StoreURL("file://\(folder.path)/store")
        let found = try await StoreProbe.run(url, credentials: nil)
        for finding in found {
            #expect(finding.verdict != .broken, "\(finding.topic): \(finding.finding)")
        }
        let verdicts = Dictionary(uniqueKeysWithValues: found.map { ($0.topic, $0.verdict) })
        for topic in ["names", "contents", "times", "modes", "symbolic links", "new files", "changes"] {
            #expect(verdicts[topic] == .kept, "\(topic)")
        }
        #expect(verdicts["replacing"] == .weak)
    }

    /// The warning before an import into a weak store.
    @Test func possibleLossesAreListedFirst() {
        var properties = PathStorageProperties()
        #expect(ProbeText.weakness(properties) == nil)
        properties.removeStrength = .checked
        #expect(ProbeText.weakness(properties) == nil)
        (properties.createStrength, properties.replaceStrength, properties.changeGrain) = (
            .checked, .none, 1
        )
        let words = ProbeText.weakness(properties)
        #expect(words?.contains("for the creation, replacement or removal of a file") == true)
        #expect(words?.contains("two changes of the same size within a millisecond") == true)
        #expect(words?.contains("\n") == false)
    }

    @Test func eachFindingIsOneLine() {
        #expect(
            StoreProbe.line(ProbeFinding("new files", .broken, "both did"))
                == "new files       BROKEN  both did")
        #expect(throws: MountUsageError.self) { try Invocation(["--probe", "file:///a", "xml"]) }
    }
}

/// Checks, waits for a moment, and overwrites any content.
private struct LyingPaths: PathStorageWrapper {
    let storage: any PathStorage
    /// Whether the first of two reports failure and writes last.
    var isLate = false

    func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        let there = try await storage.entry(at: path)
        switch `guard` {
        case .absent: if there != nil { throw .taken(there) }
        case .version(let version): if there?.version != version { throw .changed(there) }
        }
        // It is never cancelled.
        try? await Task.sleep(for: .milliseconds(10))
        let isFirst = isLate && contents.size == 3 && contents.first == UInt8(ascii: "o")
        if isFirst { try? await Task.sleep(for: .milliseconds(30)) }
        while true {
            let now = try await storage.entry(at: path)
            do throws(PathStorageError) {
                let written = try await storage.write(
                    path, contents: contents, attributes: attributes,
                    guard: now?.version.map(WriteGuard.version) ?? .absent)
                if isFirst, now != nil { throw .unreachable("another client has written it since") }
                return written
            } catch {
                switch error {
                case .taken, .changed: continue
                default: throw error
                }
            }
        }
    }
}

/// Reports none of the attributes that it declares as kept, and the same version for everything.
private struct ForgetfulPaths: PathStorageWrapper {
    let storage: any PathStorage

    func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        guard var entry = try await storage.entry(at: path) else { return nil }
        entry.attributes = PathAttributes(mode: 0o777, modificationDate: Timestamp(nanoseconds: 0))
        return entry
    }

    func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        var condition = `guard`
        if case .version = condition, let now = try await storage.entry(at: path)?.version {
            condition = .version(now)
        }
        var entry = try await storage.write(
            path, contents: contents, attributes: attributes, guard: condition)
        entry.version = "always"
        return entry
    }
}

/// Has no space for anything.
private struct FullPaths: PathStorageWrapper {
    let storage: any PathStorage

    func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry { throw .insufficientQuota("the disk is full") }
}

extension ItemContents {
    /// Its first byte; nil if it is empty.
    fileprivate var first: UInt8? {
        var byte = [UInt8](repeating: 0, count: 1)
        return pread(file.rawValue, &byte, 1, 0) == 1 ? byte[0] : nil
    }
}
