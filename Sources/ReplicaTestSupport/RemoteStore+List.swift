package import ReplicaModel

/// Listings for tests.
extension RemoteStore {
    /// All items of a folder, over all pages.
    package func all(in folder: ItemIdentifier = .root) async throws -> [Item] {
        var items: [Item] = []
        var page: EnumerationPage?
        repeat {
            let answer = try await enumerateItems(in: folder, from: page)
            items += answer.items
            page = answer.next
        } while page != nil
        return items
    }

    /// - Throws: ``BrokenPromise`` if there is no such item.
    package func child(_ name: String, in folder: ItemIdentifier = .root) async throws -> Item {
        let found = try await all(in: folder).first { $0.filename == FileName(name) }
        guard let found else { throw BrokenPromise("there is no \(name)") }
        return found
    }
}
