package import PathStore

extension StepFaults {
    /// Opens a store over a storage, like a process, and its successor after a crash. There are no faults after `body`.
    /// - Parameter folder: The store's folder.
    package func run(
        _ storage: any PathStorage, folder: String, _ body: (PathStore) async throws -> Void
    ) async throws {
        let store = try PathStore(storage, folder: folder, options: .alwaysListing)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(store)) } catch { outcome = .failure(error) }
        disarm()
        try store.close()
        try outcome.get()
    }
}
