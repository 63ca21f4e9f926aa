import PathStore
import ReplicaModel
import ReplicaTestSupport
import Threads

/// A change that a machine makes in a storage.
struct Operation: Sendable, CustomStringConvertible {
    enum Kind: String, Sendable {
        case create, replace, make, set, move, remove
    }

    var machine: Int
    var kind: Kind
    var path: StoragePath
    var target: StoragePath?
    /// What is written.
    var content: String?
    var begin: ContinuousClock.Instant
    var end: ContinuousClock.Instant?
    /// Whether the storage tests its condition and acts in one step.
    var isAtomic: Bool
    var outcome = ""

    var description: String {
        "machine \(machine): \(kind.rawValue) \(path)\(target.map { " to \($0)" } ?? "") \(content ?? "") \(outcome)"
    }

    /// Whether both were under way at one moment.
    func overlaps(_ other: Operation) -> Bool {
        begin <= other.end ?? .now && other.begin <= end ?? .now
    }

    /// Whether it is about the same place, or one above or below.
    func meets(_ other: Operation) -> Bool {
        [path, target].compactMap(\.self).contains { mine in
            [other.path, other.target].compactMap(\.self).contains { $0.isWithin(mine) || mine.isWithin($0) }
        }
    }
}

/// What all machines did in one storage, and when: what the strength of its conditions lets be lost is told by that.
final class OperationLog: Sendable {
    private let operations = Locked<[Operation]>([], rank: .innermost)

    var all: [Operation] { operations.withLock { $0 } }

    /// Notes what one machine does.
    struct Writer: Sendable {
        let machine: Int
        fileprivate let log: OperationLog

        func begin(
            _ kind: Operation.Kind, _ path: StoragePath, _ target: StoragePath?, _ content: String?, _ isAtomic: Bool
        )
            -> Int
        {
            log.operations.withLock { operations in
                operations.append(
                    Operation(
                        machine: machine, kind: kind, path: path, target: target, content: content, begin: .now,
                        isAtomic: isAtomic))
                return operations.count - 1
            }
        }

        func end(_ number: Int, _ outcome: String) {
            log.operations.withLock { operations in
                (operations[number].end, operations[number].outcome) = (.now, outcome)
            }
        }
    }

    func writer(_ machine: Int) -> Writer { Writer(machine: machine, log: self) }

    /// Whether what was written may be lost: another machine acted at its place without a condition that the storage tests in one step,
    /// while it was written.
    func mayBeLost(_ content: String) -> Bool {
        let all = all
        return all.contains { operation in
            guard operation.content == content else { return false }
            return all.contains {
                $0.machine != operation.machine && !$0.isAtomic && $0.kind != .make && $0.overlaps(operation)
                    && $0.meets(operation)
            }
        }
    }
}

extension OperationLog {
    /// Whether a content may be there twice: a machine had changed the file, or had no answer about it, when another moved it, and made it
    /// anew. Where no identity tells that it is the same elsewhere, a move is a deletion and a creation.
    func mayBeDoubled(_ content: String) -> Bool {
        let all = all
        return all.filter { $0.content == content }.dropFirst().contains { again in
            again.kind == .create && all.contains { $0.kind == .move && $0.machine != again.machine }
        }
    }
}

/// A storage behind a line whose changes are noted.
struct WatchedStorage: PathStorage {
    let storage: any PathStorage
    let log: OperationLog.Writer
    let line: Line

    var properties: PathStorageProperties { storage.properties }

    private func noted<Value>(
        _ kind: Operation.Kind, _ path: StoragePath, target: StoragePath? = nil, content: String? = nil,
        _ strength: PathStorageProperties.Strength, _ body: () async throws(PathStorageError) -> Value
    ) async throws(PathStorageError) -> Value {
        let number = log.begin(kind, path, target, content, strength == .atomic)
        do throws(PathStorageError) {
            let value = try await passed(body)
            log.end(number, "done")
            return value
        } catch {
            log.end(number, "\(error)")
            throw error
        }
    }

    private func passed<Value>(
        _ body: () async throws(PathStorageError) -> Value
    ) async throws(PathStorageError) -> Value {
        try meet(line.before())
        let value = try await body()
        try meet(line.after())
        return value
    }

    private func meet(_ trouble: Line.Trouble?) throws(PathStorageError) {
        switch trouble {
        case .cut: throw .unreachable("the line is cut")
        case .death: throw .cancelled
        case nil: break
        }
    }

    func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        try await passed { () async throws(PathStorageError) in try await storage.entry(at: path) }
    }

    func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        try await passed { () async throws(PathStorageError) in
            try await storage.list(folder, isDeep: isDeep, from: page)
        }
    }

    func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        try await passed { () async throws(PathStorageError) in
            try await storage.read(path, version: version, range: range, into: sink)
        }
    }

    func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard condition: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        // What can't be read is written as nothing here, and fails below.
        let content = (try? contents.allBytes()).map { String(decoding: $0, as: UTF8.self) }
        let isNew = condition == .absent
        return try await noted(
            isNew ? .create : .replace, path, content: content,
            isNew ? properties.createStrength : properties.replaceStrength
        ) { () async throws(PathStorageError) in
            try await storage.write(path, contents: contents, attributes: attributes, guard: condition)
        }
    }

    func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        try await noted(.make, path, .atomic) { () async throws(PathStorageError) in
            try await storage.make(path, kind: kind, attributes: attributes)
        }
    }

    func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        try await noted(.set, path, properties.replaceStrength) { () async throws(PathStorageError) in
            try await storage.set(attributes, of: path)
        }
    }

    func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        try await noted(.move, path, target: target, properties.moveStrength) { () async throws(PathStorageError) in
            try await storage.move(path, to: target, version: version)
        }
    }

    func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        try await noted(.remove, path, properties.removeStrength) { () async throws(PathStorageError) in
            try await storage.remove(path, version: version)
        }
    }

    func signals() -> AsyncStream<StoragePath?> { storage.signals() }

    func makeDurable() async throws(PathStorageError) { try await storage.makeDurable() }
}
