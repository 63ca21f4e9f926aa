package import PathStore
import ReplicaModel
import Threads

/// A configurable ``PathStorage`` in memory for tests: the strength of its conditions, what it keeps, the resolution of
/// its clock, which calls fail, and which changes of other clients precede a call.
///
/// Everything may be called from any thread. Set the properties before the first call.
/// Large: a whole storage, and another client of it.
package final class MemoryPathStorage: PathStorage {
    /// Runs before or after a call. Its error is the call's answer: thrown before, the call has no effect; thrown
    /// after, it has its effect and the answer is lost.
    package typealias Hook = @Sendable (PathStorageCall) async throws(PathStorageError) -> Void
    /// Runs at the point where another client can interfere: between the check and the change if the condition is not
    /// ``PathStorageProperties/Strength/atomic``, otherwise before both.
    package typealias Race = @Sendable (PathStorageCall) -> Void

    struct Controls {
        var calls: [PathStorageCall] = []
        var before: Hook?
        var after: Hook?
        var race: Race?
        var pageSize = 1_000
        var now: @Sendable () -> Int64 = { MemoryPathStorage.monotonic() }
    }

    let paths: Locked<MemoryPaths>
    let controls = Locked(Controls())
    private let listeners = Listeners<StoragePath?>(keeping: .unbounded)

    /// An empty storage.
    package init(_ properties: PathStorageProperties = PathStorageProperties()) {
        var paths = MemoryPaths()
        paths.properties = properties
        self.paths = Locked(paths)
    }

    package var properties: PathStorageProperties { paths.withLock { $0.properties } }

    /// The resolution of dates that are set, in nanoseconds.
    package var dateGrain: Int64 {
        get { paths.withLock { $0.dateGrain } }
        set { paths.withLock { $0.dateGrain = newValue } }
    }

    /// Whether entries report the versions that no later write can produce.
    package var tellsSettled: Bool {
        get { paths.withLock { $0.tellsSettled } }
        set { paths.withLock { $0.tellsSettled = newValue } }
    }

    /// Its clock in nanoseconds.
    package var now: @Sendable () -> Int64 {
        get { controls.withLock { $0.now } }
        set { controls.withLock { $0.now = newValue } }
    }

    package var pageSize: Int {
        get { controls.withLock { $0.pageSize } }
        set { controls.withLock { $0.pageSize = newValue } }
    }

    package var before: Hook? {
        get { controls.withLock { $0.before } }
        set { controls.withLock { $0.before = newValue } }
    }

    package var after: Hook? {
        get { controls.withLock { $0.after } }
        set { controls.withLock { $0.after = newValue } }
    }

    package var race: Race? {
        get { controls.withLock { $0.race } }
        set { controls.withLock { $0.race = newValue } }
    }

    /// The calls so far.
    package var calls: [PathStorageCall] { controls.withLock { $0.calls } }

    /// Clears the list of calls.
    package func clearCalls() { controls.withLock { $0.calls = [] } }

    private static func monotonic() -> Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    private static let start = ContinuousClock.now

    /// Signals to listeners that something may have changed in a folder; nil for anywhere.
    package func signal(_ folder: StoragePath?) { listeners.yield(folder) }

    package func signals() -> AsyncStream<StoragePath?> { listeners.stream() }

    /// Logs the call and runs it between the hooks.
    func serve<Result>(
        _ call: PathStorageCall, _ body: () async throws(PathStorageError) -> Result
    ) async throws(PathStorageError) -> Result {
        let (before, after) = controls.withLock {
            $0.calls.append(call)
            return ($0.before, $0.after)
        }
        if let before { try await before(call) }
        let result = try await body()
        if let after { try await after(call) }
        return result
    }

    /// Checks and changes, with everything that can happen in between.
    /// - Parameters:
    ///   - check: Checks the condition; not called if the strength is `none`.
    ///   - act: Makes the change, regardless of the check.
    func guarded<Result>(
        _ call: PathStorageCall, _ strength: PathStorageProperties.Strength,
        check: (MemoryPaths, _ now: Int64) throws(PathStorageError) -> Void,
        act: (inout MemoryPaths, _ now: Int64) throws(PathStorageError) -> Result
    ) throws(PathStorageError) -> Result {
        let (race, now) = (race, now())
        if strength == .checked { try paths.withLock { (paths) throws(PathStorageError) in try check(paths, now) } }
        race?(call)
        return try paths.withLock { (paths) throws(PathStorageError) in
            if strength == .atomic { try check(paths, now) }
            return try act(&paths, now)
        }
    }
}
