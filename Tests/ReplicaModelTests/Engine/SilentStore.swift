import ReplicaTestSupport
import Threads

@testable import ReplicaModel

/// A store that never answers some calls, even if they are cancelled, until it is told to.
final class SilentStore: StoreWrapper {
    /// A kind of call; `recognize` and `makeDurable` have no method.
    enum Kind: String, CaseIterable, Sendable {
        case item, enumerateItems, currentAnchor, enumerateChanges, fetchContents
        case createItem, itemCreated, modifyItem, deleteItem, usage, importDidFinish, recognize, makeDurable
    }

    private struct State {
        var counts: [Kind: Int] = [:]
        var silent: (kind: Kind, number: Int)?
        var hung: [CheckedContinuation<Void, Never>] = []
    }

    let memory = MemoryStore()
    private let state = Locked(State())

    var store: any RemoteStore { memory }

    /// How many calls hang now.
    var hung: Int { state.withLock { $0.hung.count } }

    /// How many calls of a kind were made since it fell silent.
    func count(of kind: Kind) -> Int { state.withLock { $0.counts[kind] ?? 0 } }

    /// The `number`th call of a kind from now on is not answered.
    func fallSilent(at kind: Kind, number: Int = 1) {
        state.withLock { state in
            state.counts[kind] = 0
            state.silent = (kind, number)
        }
    }

    /// Carries out the calls that hang, and hangs no more.
    func speak() {
        let hung = state.withLock { state in
            state.silent = nil
            defer { state.hung = [] }
            return state.hung
        }
        for one in hung { one.resume() }
    }

    deinit {
        for one in state.withLock({ $0.hung }) { one.resume() }
    }

    private func hang(_ kind: Kind) async {
        let isSilent = state.withLock { state in
            state.counts[kind, default: 0] += 1
            guard let silent = state.silent else { return false }
            return silent.kind == kind && state.counts[kind] == silent.number
        }
        guard isSilent else { return }
        await withCheckedContinuation { continuation in state.withLock { $0.hung.append(continuation) } }
    }

    func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        if let kind = Kind(rawValue: method.rawValue) { await hang(kind) }
        return try await body()
    }

    func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {
        await hang(.recognize)
        try await memory.recognize(anchor)
    }

    func makeDurable() async throws(RemoteStoreError) {
        await hang(.makeDurable)
        try await memory.makeDurable()
    }

    func importDidFinish() async {
        await hang(.importDidFinish)
        await memory.importDidFinish()
    }
}
