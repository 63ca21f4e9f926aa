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

    /// How a call ends that is cancelled.
    enum Outcome: Sendable, CaseIterable {
        case success, cancelled, conflict

        var error: RemoteStoreError? {
            switch self {
            case .success: nil
            case .cancelled: .cancelled
            case .conflict: .versionConflict(nil)
            }
        }
    }

    private struct State {
        var counts: [Kind: Int] = [:]
        var silent: (kind: Kind, numbers: ClosedRange<Int>)?
        var hung: [CheckedContinuation<Void, Never>] = []
        var whenCancelled: Outcome?
    }

    let memory = MemoryStore()
    private let state = Locked(State())

    var store: any RemoteStore { memory }

    /// How many calls hang now.
    var hung: Int { state.withLock { $0.hung.count } }

    /// How many calls of a kind were made since it fell silent.
    func count(of kind: Kind) -> Int { state.withLock { $0.counts[kind] ?? 0 } }

    /// The `number`th call of a kind from now on is not answered, or all from that one on.
    /// - Parameter whenCancelled: How the call ends if it is cancelled; nil if it does not end then either.
    func fallSilent(at kind: Kind, number: Int = 1, isForEver: Bool = false, whenCancelled: Outcome? = nil) {
        state.withLock { state in
            state.whenCancelled = whenCancelled
            state.counts[kind] = 0
            state.silent = (kind, number...(isForEver ? .max : number))
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

    /// - Returns: The error of a call that was cancelled.
    private func hang(_ kind: Kind) async -> RemoteStoreError? {
        let isSilent = state.withLock { state in
            state.counts[kind, default: 0] += 1
            guard let silent = state.silent else { return false }
            return silent.kind == kind && silent.numbers.contains(state.counts[kind] ?? 0)
        }
        guard isSilent else { return nil }
        let whenCancelled = state.withLock { $0.whenCancelled }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in state.withLock { $0.hung.append(continuation) } }
        } onCancel: {
            if whenCancelled != nil { speak() }
        }
        return Task.isCancelled ? whenCancelled?.error : nil
    }

    func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        if let kind = Kind(rawValue: method.rawValue), let error = await hang(kind) { throw error }
        return try await body()
    }

    func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {
        _ = await hang(.recognize)
        try await memory.recognize(anchor)
    }

    func makeDurable() async throws(RemoteStoreError) {
        _ = await hang(.makeDurable)
        try await memory.makeDurable()
    }

    func importDidFinish() async {
        _ = await hang(.importDidFinish)
        await memory.importDidFinish()
    }
}
