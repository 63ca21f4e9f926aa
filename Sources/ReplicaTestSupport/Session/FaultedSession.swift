package import PathStore
internal import ReplicaModel
internal import SystemPackage

/// A session at a server on this machine, through a proxy that applies faults to some of its requests.
package protocol FaultedSession: Sendable {
    var connection: FaultedConnection { get }
    /// Opens the store through the connection, like a process, and closes it after `body`.
    func run(_ body: (PathStore) async throws -> Void) async throws
    /// Other clients' view: the contents of all files by path.
    func files() async throws -> [String: [UInt8]]
    /// What must not be left after everything was deleted, the store's internal files included.
    func leftovers() async throws -> [String]
}

extension FaultedSession {
    /// The applied faults.
    package var faulted: [String] { connection.faulted }

    /// Makes a call with the requests under the proxy's rule.
    package func armed<Value>(_ body: () async throws -> Value) async throws -> Value {
        connection.arm()
        defer { connection.disarm() }
        return try await body()
    }

    /// Runs a part of the session, and checks what is left.
    package func play(_ act: ScriptedSession.Act) async throws {
        try await run { store in
            let session = ScriptedSession(
                store, ScriptedSession.Outside { try await files() }, large: 150_000
            ) { [connection] step in
                if step == nil { connection.disarm() } else { connection.arm() }
            }
            try await session.play(act)
            try await checkNothingIsLeft(by: store)
        }
    }

    /// Internal files that could not be removed are removed with a later change, but not at once.
    private func checkNothingIsLeft(by store: PathStore) async throws {
        let change = RetryingStore(store)
        let isClean = try await eventually {
            if try await leftovers().isEmpty { return true }
            try await change.delete(try await change.create("later", .file, in: .root, nil))
            try await Task.sleep(for: .seconds(1))
            return false
        }
        guard isClean else { throw BrokenPromise("left behind: \(try await leftovers())") }
    }
}

/// The proxy of a session, and the folder of its store, which is removed with it.
package final class FaultedConnection: Sendable {
    private let faults: StepFaults
    private let proxy: HTTPFaultProxy
    private let state: TemporaryFolder

    /// - Parameter server: The server's port.
    package init(to server: UInt16?, _ choice: @escaping StepFaults.Choice) throws {
        let faults = StepFaults(choice)
        (self.faults, state) = (faults, try TemporaryFolder())
        proxy = try HTTPFaultProxy(to: { server }, plan: { faults.fault(for: $0) })
    }

    deinit { proxy.close() }

    /// The proxy's port, on this machine.
    package var port: UInt16 { proxy.port }
    /// The store's folder.
    package var folder: String { state.path.string }
    package var faulted: [String] { faults.faulted }

    package func arm() { faults.arm() }
    package func disarm() { faults.disarm() }

    /// Opens a store over a storage, like a process, and its successor after a crash. There are no faults after `body`.
    package func run(_ storage: any PathStorage, _ body: (PathStore) async throws -> Void) async throws {
        let store = try PathStore(storage, folder: folder, options: .alwaysListing)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(store)) } catch { outcome = .failure(error) }
        disarm()
        try store.close()
        try outcome.get()
    }
}
