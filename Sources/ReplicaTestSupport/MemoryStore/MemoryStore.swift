public import ReplicaModel
import Threads

/// A store in memory for tests: deterministic, configurable, and keeping every promise of ``RemoteStore``.
///
/// Identifiers and versions are counters, so the same calls in the same order have the same answers. Everything may be
/// called from any thread. Large: a whole store, and another client of it.
public final class MemoryStore: RemoteStore {
    /// Runs before or after a call is executed. Its error is the call's answer: thrown before, the call has no effect;
    /// thrown after, it has its effect and the answer is lost. Runs after successes only.
    public typealias Hook = @Sendable (StoreCall) async throws(RemoteStoreError) -> Void

    struct Controls {
        var calls: [StoreCall] = []
        var before: Hook?
        var after: Hook?
        var pageSize = 1_000
        var batchSize = 1_000
        var usage: StoreUsage?
    }

    let tree = Locked(MemoryTree())
    let controls = Locked(Controls())
    private let listeners = Listeners<Void>()

    /// An empty store.
    public init() {}

    /// The store's properties, which it declares and has. Set them before the first call.
    public var properties: StoreProperties {
        get { tree.withLock { $0.properties } }
        set { tree.withLock { $0.properties = newValue } }
    }

    /// Whether the store has a trash; short for the property.
    public var keepsTrash: Bool {
        get { properties.keepsTrash }
        set { tree.withLock { $0.properties.keepsTrash = newValue } }
    }

    /// Whether the content version changes with every change, as in services with a single version.
    public var hasOneVersion: Bool {
        get { tree.withLock { $0.hasOneVersion } }
        set { tree.withLock { $0.hasOneVersion = newValue } }
    }

    /// Whether the feed also reports changes made through the store.
    public var reportsOwnChanges: Bool {
        get { tree.withLock { $0.reportsOwnChanges } }
        set { tree.withLock { $0.reportsOwnChanges = newValue } }
    }

    /// The maximum number of items of a page of a listing, at least 1.
    public var pageSize: Int {
        get { controls.withLock { $0.pageSize } }
        set { controls.withLock { $0.pageSize = max(1, newValue) } }
    }

    /// The maximum number of items of a batch of changes, at least 1.
    public var batchSize: Int {
        get { controls.withLock { $0.batchSize } }
        set { controls.withLock { $0.batchSize = max(1, newValue) } }
    }

    /// The space that it reports; nil (the default) for none.
    public var space: StoreUsage? {
        get { controls.withLock { $0.usage } }
        set { controls.withLock { $0.usage = newValue } }
    }

    /// Sets the hooks that run before and after each call; nil for none.
    public func setHooks(before: Hook? = nil, after: Hook? = nil) {
        controls.withLock {
            $0.before = before
            $0.after = after
        }
    }

    /// All calls so far, including failed ones, in order.
    public var calls: [StoreCall] { controls.withLock { $0.calls } }

    /// The calls of one method.
    public func calls(of method: StoreCall.Method) -> [StoreCall] { calls.filter { $0.method == method } }

    /// Clears the list of calls.
    public func clearCalls() { controls.withLock { $0.calls = [] } }

    /// Makes all issued anchors unknown to the store.
    public func expireAnchors() { tree.withLock { $0.feed.expire() } }

    /// Gives all items except the root new identifiers, and expires the anchors (statement 29).
    public func reassignIdentifiers() { tree.withLock { $0.reassignIdentifiers() } }

    /// Signals to the listeners of ``signals()`` that something may have changed.
    public func signal() { listeners.signal() }

    public func signals() -> AsyncStream<Void> { listeners.stream() }

    /// Logs the call, then runs it between the hooks.
    func serve<Result>(
        _ call: StoreCall, _ body: (inout MemoryTree) throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        let (before, after) = controls.withLock {
            $0.calls.append(call)
            return ($0.before, $0.after)
        }
        if let before { try await before(call) }
        let result = try tree.withLock { tree throws(RemoteStoreError) in
            tree.feed.isSilent = !tree.reportsOwnChanges
            defer { tree.feed.isSilent = false }
            return try body(&tree)
        }
        if let after { try await after(call) }
        return result
    }
}
