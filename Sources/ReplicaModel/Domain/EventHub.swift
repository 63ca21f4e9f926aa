import Threads

/// Tells whoever listens what happens in the domain. Costs nearly nothing while nobody does.
final class EventHub: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<DomainEvent>.Continuation] = [:]
        var next: UInt64 = 0
    }
    private let state = Locked(State())

    /// How many events a listener may be behind; older ones are dropped for one that is slower.
    private static let mostBehind = 16_384

    /// Whether anybody listens.
    var isHeard: Bool { state.withLock { !$0.listeners.isEmpty } }

    func post(_ event: DomainEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
    }

    func stream() -> AsyncStream<DomainEvent> {
        let (stream, continuation) = AsyncStream<DomainEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.mostBehind))
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Ends all streams.
    func finish() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }
}

extension Replica {
    /// Posts an event about an item, by the path it has now.
    func post(_ kind: DomainEvent.Kind, _ number: ItemNumber, detail: String? = nil) {
        guard events.isHeard else { return }
        let path = withTree { tree in (tree.items[number] ?? tree.nodesByInode[number]).map(tree.formerPath(of:)) }
        events.post(DomainEvent(kind, path: path, detail: detail, seconds: clock.wall()))
    }

    /// Posts an event about the domain.
    func post(_ kind: DomainEvent.Kind, path: [FileName]? = nil, detail: String? = nil) {
        guard events.isHeard else { return }
        events.post(DomainEvent(kind, path: path, detail: detail, seconds: clock.wall()))
    }
}

extension Replica {
    /// Whether the last try for an item failed.
    func hasFailed(_ number: ItemNumber) -> Bool { withTree { $0.items[number]?.failure != nil } }
}

extension Tree {
    /// The path of a node; of a deleted one where the store still has it.
    fileprivate func formerPath(of node: Node) -> [FileName] {
        guard node.isDeleted, let base = node.base else { return path(of: node) }
        return (items[base.parent].map(path(of:)) ?? []) + [base.name]
    }
}
