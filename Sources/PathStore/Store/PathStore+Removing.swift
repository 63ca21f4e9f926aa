internal import GRDB
package import ReplicaModel

extension PathStore {
    package func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError) {
        if identifier == .root { throw .deletionRejected(item(of: try known(.root))) }
        guard let id = identifier.row, try table.read({ try $0.row(id) }) != nil else { return }
        do throws(RemoteStoreError) {
            try await acting(on: id) { (row, path) async throws(RemoteStoreError) in
                try await self.remove(row, path, base: base.content)
            }
        } catch {
            guard error == .noSuchItem(identifier) else { throw error }
        }
    }

    /// - Returns: Nil if the item is not at its path.
    private func remove(_ known: PathRow, _ path: StoragePath, base: String) async throws(RemoteStoreError) -> Void? {
        // Also if the condition is checked atomically: a refusal has to report the current state.
        guard var row = try await peek(known, at: path) else { return nil }
        if row.kind == .file {
            row = try await settled(row, at: path)
            guard row.token == base else { throw .deletionRejected(item(of: row)) }
        }
        let removed = row
        let outcome = try await doing(Intent(operation: .remove, item: row.id)) { () async throws(PathStorageError) in
            try await storage.remove(path, version: removed.kind == .file ? removed.version : nil)
        } confirm: { _, database in
            try database.drop(removed.id)
        }
        switch outcome {
        case .success: return ()
        case .failure(.changed):
            guard let now = try await peek(row, at: path) else { return nil }
            throw .deletionRejected(item(of: now))
        case .failure(.notEmpty): throw .directoryNotEmpty(ItemIdentifier(row: row.id))
        case .failure(.notFound): return nil
        case .failure(let error): throw error.general
        }
    }
}
