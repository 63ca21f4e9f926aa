public import SystemPackage

/// What an eviction did.
public struct Eviction: Sendable, Hashable {
    /// Something that stayed.
    public struct Refusal: Sendable, Hashable {
        public var path: [FileName]
        public var reason: EvictionRefusal
    }
    /// Items that are dataless now and were not before.
    public var items = 0
    /// Bytes given back.
    public var bytes: Int64 = 0
    public var refused: [Refusal] = []
}

extension Domain {
    /// Gives back the space of content that the store has too (statement 40). Names, sizes, times and attributes
    /// stay. Of a folder everything below it; a folder in which all is evicted becomes dataless itself, unless it is in
    /// use or the store can't keep what its entries have (file-provider.md §15).
    /// - Parameter isStrict: Whether nothing is evicted when something refuses: the first refusal is the result, like
    ///   nonEvictableChildren. Else as much as possible is evicted.
    /// - Throws: ENOENT; ENOTDIR; EIO when the database can't be written.
    public func evict(_ path: [FileName], isStrict: Bool) async throws(Errno) -> Eviction {
        let held = try await hold(path, listing: false)
        let kind = replica.look { $0.items[held.number]?.kind }
        var result = Eviction()
        if isStrict { try check(held.number, kind ?? .file, path, &result) }
        if result.refused.isEmpty { try evict(held.number, kind ?? .file, path, &result) }
        // The folder itself is let go first, or it would count as one in use.
        release(held)
        if kind == .folder, result.refused.isEmpty { try await drop(held.number, &result) }
        return result
    }

    /// Finds the first refusal.
    private func check(
        _ number: ItemNumber, _ kind: ItemKind, _ path: [FileName], _ result: inout Eviction
    ) throws(Errno) {
        guard kind == .folder else {
            if let reason = replica.evictionRefusal(of: number) {
                result.refused.append(Eviction.Refusal(path: path, reason: reason))
            }
            return
        }
        for child in try children(of: number) where result.refused.isEmpty {
            try check(child.number, child.kind, path + [child.name], &result)
        }
    }

    private func evict(
        _ number: ItemNumber, _ kind: ItemKind, _ path: [FileName], _ result: inout Eviction
    ) throws(Errno) {
        guard kind == .folder else {
            do throws(EvictionRefusal) {
                guard let bytes = try replica.evictFile(number) else { return }
                result.items += 1
                result.bytes += bytes
            } catch {
                result.refused.append(Eviction.Refusal(path: path, reason: error))
            }
            return
        }
        for child in try children(of: number) {
            try evict(child.number, child.kind, path + [child.name], &result)
        }
    }

    private func children(of folder: ItemNumber) throws(Errno) -> [ListedChild] {
        do throws(Obstacle) {
            return try replica.listedChildren(of: folder) ?? []
        } catch {
            throw error.errno
        }
    }

    /// Drops listings from the bottom up.
    private func drop(_ folder: ItemNumber, _ result: inout Eviction) async throws(Errno) {
        guard store.properties.fields.isSuperset(of: Self.neededFields) else { return }
        for child in try children(of: folder) where child.kind == .folder { try await drop(child.number, &result) }
        replica.releaseEntries(of: folder)
        for _ in 0..<Self.patience where replica.hasKnownEntries(folder) {
            try? await Task.sleep(for: .milliseconds(10))  // A cancelled task finds the folder in use.
        }
        do {
            if try replica.dropListing(of: folder) { result.items += 1 }
        } catch let obstacle as Obstacle {
            throw obstacle.errno
        } catch {
            throw .ioError
        }
    }

    /// What would be lost with a listing if the store did not have it.
    private static let neededFields: ItemFields = [.mode, .modificationDate, .untoldByStatus]
    /// Hundredths of a second that the kernel is given to forget entries.
    private static let patience = 50
}
