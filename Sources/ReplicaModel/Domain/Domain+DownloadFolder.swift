internal import SystemPackage

/// An item to be fetched.
private struct Absent {
    var path: [FileName]
    var kind: ItemKind
    /// The number of bytes of its content that are not local.
    var missing: Int64
}

extension Domain {
    /// Lists everything at and below a path, to determine the total; then downloads the contents.
    /// - Parameter isPinnedOnly: Whether unpinned items below are left out.
    func downloadAll(at path: [FileName], isPinnedOnly: Bool, _ work: RequestProgress) async throws(Errno) -> Download {
        let top = try await absent(at: path)
        work.find(items: 1, bytes: top.missing)
        var files = top.kind == .folder ? [] : [top]
        let folders = top.kind == .folder ? [top] : []
        let listed = try await downloadItems(folders, of: path, work) { folder, children in
            let wanted = children.filter { !isPinnedOnly || !$0.isUnpinned }
            work.find(items: wanted.count, bytes: wanted.reduce(0) { $0.saturatingAdd($1.missing) })
            let below = wanted.map { Absent(path: folder.path + [$0.name], kind: $0.kind, missing: $0.missing) }
            files += below.filter { $0.kind != .folder }
            return below.filter { $0.kind == .folder }
        }
        work.endCounting()
        let fetched = try await downloadItems(files, of: path, work) { _, _ in [] }
        return Download(items: listed.items + fetched.items, failed: listed.failed + fetched.failed)
    }

    private func absent(at path: [FileName]) async throws(Errno) -> Absent {
        let held = try await hold(path, listing: true)
        defer { release(held) }
        let found = replica.withTree { $0.items[held.number].map { ($0.kind, $0.missingBytes) } }
        guard let (kind, missing) = found else { throw .noSuchFileOrDirectory }
        return Absent(path: path, kind: kind, missing: missing)
    }

    /// Downloads items, several at a time, and those that are found meanwhile.
    /// - Parameters:
    ///   - top: The requested item.
    ///   - found: Returns what is to be downloaded of a folder's entries.
    private func downloadItems(
        _ items: [Absent], of top: [FileName], _ work: RequestProgress, found: (Absent, [ListedChild]) -> [Absent]
    ) async throws(Errno) -> Download {
        var (waiting, running, result) = (items[...], 0, Download())
        let outcome = await withTaskGroup(
            of: (Absent, Result<[ListedChild], Errno>).self, returning: Result<Download, Errno>.self
        ) { group in
            while true {
                // Listings don't fail when they are cancelled.
                if Task.isCancelled { return .failure(.interrupted) }
                while running < mostAtOnce, let item = waiting.popFirst() {
                    running += 1
                    group.addTask { (item, await self.downloadItem(item, work)) }
                }
                guard let (item, brought) = await group.next() else { return .success(result) }
                running -= 1
                switch brought {
                case .success(let children):
                    result.items += 1
                    waiting += found(item, children)
                case .failure(let error):
                    do throws(Errno) { try engine.checkConnected() } catch {
                        group.cancelAll()
                        return .failure(error)
                    }
                    // An item that was removed in the meantime need not be fetched.
                    guard error != .noSuchFileOrDirectory || item.path == top else { continue }
                    result.failed.append(Download.Failure(path: item.path, errno: error))
                }
            }
        }
        var done = try outcome.get()
        done.failed.sort { $0.path.lexicographicallyPrecedes($1.path) }
        return done
    }

    /// The number of concurrent fetches; two calls of the store are left to programs that
    /// read, which take precedence, and to pinned items.
    private var mostAtOnce: Int {
        engine.options.isSequential ? 1 : max(1, min(12, engine.store.properties.concurrency - 2))
    }

    /// - Returns: A folder's entries.
    private func downloadItem(_ item: Absent, _ work: RequestProgress) async -> Result<[ListedChild], Errno> {
        do throws(Errno) {
            let held = try await hold(item.path, listing: true)
            defer { release(held) }
            try await downloadItem(held, nil, work, item.missing)
            return .success(item.kind == .folder ? try children(of: held.number) : [])
        } catch {
            return .failure(error)
        }
    }
}
