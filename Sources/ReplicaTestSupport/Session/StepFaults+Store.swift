package import PathStore

extension StepFaults {
    /// Opens a store over a storage, as one process does and, after that is dead, the next one. What comes after `body` is not faulted.
    /// - Parameter folder: Where the store has what is its own.
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
