internal import SystemPackage

/// An item to be fetched, ordered by path.
private struct Absent {
    var path: [FileName]
    var kind: ItemKind
    /// The number of bytes of its content that are not local.
    var missing: Int64
}

extension Domain {
    /// Lists everything at and below a path, to determine the total; then downloads the contents.
    /// - Parameter isPinnedOnly: Whether unpinned items below are left out.
    func bringAll(at path: [FileName], isPinnedOnly: Bool, _ work: Work) async throws(Errno) -> Download {
        let top = try await absent(at: path)
        var waiting = [top]
        var files: [Absent] = []
        var result = Download()
        work.find(items: 1, bytes: top.missing)
        while let item = waiting.popLast() {
            guard item.kind == .folder else {
                files.append(item)
                continue
            }
            guard let children = try await bring(item, of: path, work, &result) else { continue }
            let wanted = children.filter { !isPinnedOnly || !$0.isUnpinned }
            work.find(items: wanted.count, bytes: wanted.reduce(0) { $0.saturatingAdd($1.missing) })
            waiting += wanted.reversed().map {
                Absent(path: item.path + [$0.name], kind: $0.kind, missing: $0.missing)
            }
        }
        work.endCounting()
        for file in files { _ = try await bring(file, of: path, work, &result) }
        return result
    }

    private func absent(at path: [FileName]) async throws(Errno) -> Absent {
        let held = try await hold(path, listing: true)
        defer { release(held) }
        let found = replica.withTree { $0.items[held.number].map { ($0.kind, $0.missingBytes) } }
        guard let (kind, missing) = found else { throw .noSuchFileOrDirectory }
        return Absent(path: path, kind: kind, missing: missing)
    }

    /// - Parameter top: The requested item.
    /// - Returns: A folder's entries; nil if it can't be listed.
    private func bring(
        _ item: Absent, of top: [FileName], _ work: Work, _ result: inout Download
    ) async throws(Errno) -> [ListedChild]? {
        do throws(Errno) {
            let held = try await hold(item.path, listing: true)
            defer { release(held) }
            try await bring(held, nil, work, item.missing)
            result.items += 1
            return item.kind == .folder ? try children(of: held.number) : []
        } catch {
            try engine.checkConnected()
            if Task.isCancelled { throw .interrupted }
            // An item that was removed in the meantime need not be fetched.
            if error != .noSuchFileOrDirectory || item.path == top {
                result.failed.append(Download.Failure(path: item.path, errno: error))
            }
            return nil
        }
    }
}
