package import ReplicaModel

extension PathStore {
    package func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let first = try known(identifier)
        guard first.kind == .file else { throw .cannotSynchronize("only files have contents") }
        use(first.parent)
        for _ in 0..<4 {
            let row = try known(identifier)
            if let version, version != row.token { throw .versionNoLongerAvailable }
            guard let path = try path(of: row.id) else {
                try await locate(row.id)
                continue
            }
            let comparison = locks.beginComparison()
            defer { locks.endComparison(comparison) }
            let noting = NotingSink(sink)
            switch await read(path, row, range, into: noting) {
            case .success(let entry):
                if locks.isStale(path, since: comparison) { continue }
                guard row.isSame(as: entry), entry.path == path else { throw .serverUnreachable }
                let now = try table.write { try observe(entry, as: try $0.row(row.id) ?? row, $0) }
                if let version, version != now.token { throw .versionNoLongerAvailable }
                return item(of: now)
            case .failure(let error):
                if let refusal = noting.error { throw refusal }
                switch error {
                case .changed, .notFound: try await self.locate(row.id)
                default: throw error.general
                }
            }
        }
        throw version == nil ? .itemUnavailable("it keeps changing") : .versionNoLongerAvailable
    }

    private func read(
        _ path: StoragePath, _ row: PathRow, _ range: Range<Int64>?, into sink: NotingSink
    ) async -> Result<PathEntry, PathStorageError> {
        do throws(PathStorageError) {
            return .success(try await storage.read(path, version: row.version, range: range, into: sink))
        } catch {
            return .failure(error)
        }
    }
}
