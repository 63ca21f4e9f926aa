internal import GRDB
package import ReplicaModel

extension PathStore {
    package func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try check(template.filename)
        if template.kind == .symlink, !storage.properties.keepsSymlinks { throw .unsupported("symlinks") }
        // Nothing can be created in a missing folder; at the root, this check is the only one that detects another
        // storage.
        if template.parent == .root { try await expectRoot() }
        let mark = Self.mark(of: template)
        if let made = try await recoverCreate(template, mark) {
            return try await completed(made, template, fields, contents)
        }
        for _ in 0..<8 {
            let parent = try known(template.parent)
            guard parent.kind == .folder else { throw .cannotSynchronize("only folders can contain items") }
            guard let folder = try path(of: parent.id) else {
                try await locate(parent.id)
                continue
            }
            let path = folder.appending(template.filename)
            let result = try await locks.hold([PathLocks.Claim(path: path)]) {
                () async throws(RemoteStoreError) -> Creation? in
                guard try self.path(of: parent.id) == folder else { return nil }
                return try await self.create(
                    template, fields, contents, options, at: path, in: parent.id, mark)
            }
            switch result {
            case .answered(let result): return result
            case .made(let row): return try await completed(row, template, fields, contents)
            case nil: break
            }
            // Nothing can be created there: the folder is gone or has moved.
            try await locate(parent.id)
        }
        throw .itemUnavailable("the folder keeps moving")
    }

    /// The text that identifies the entry created from a template.
    static func mark(of template: ItemTemplate) -> String {
        "replica-" + hexadecimal(ContentHash.of(Array(template.identifier.rawValue.utf8)).prefix(16))
    }

    private enum Creation {
        case answered(StoreResult)
        /// It was created earlier by the same call.
        case made(PathRow)
    }

    /// - Returns: Nil if the folder is no longer at its path.
    private func create(
        _ template: ItemTemplate, _ fields: ItemFields, _ contents: ItemContents?, _ options: CreateOptions,
        at path: StoragePath, in parent: Int64, _ mark: String
    ) async throws(RemoteStoreError) -> Creation? {
        // If the storage checks nothing, this is the only check.
        if storage.properties.createStrength == .none, let there = try await present(path) {
            return .answered(try await collided(template, contents, options, at: path, in: parent, there, mark))
        }
        let sent = attributes(template, fields, mark: mark)
        var intent = Intent(operation: .create)
        (intent.parent, intent.name, intent.kind) = (parent, template.filename, template.kind)
        (intent.target, intent.mark, intent.size) = (template.target, mark, contents?.size ?? 0)
        intent.hash = await neededHash(of: contents ?? (template.kind == .file ? .nothing : nil), isCreate: true)
        let hash = intent.hash
        let outcome = try await doing(intent) { () async throws(PathStorageError) in
            switch template.kind {
            case .file:
                try await storage.write(path, contents: contents ?? .nothing, attributes: sent, guard: .absent)
            case .folder: try await storage.make(path, kind: .folder, attributes: sent)
            case .symlink: try await storage.make(path, kind: .symlink(template.target ?? []), attributes: sent)
            }
        } confirm: { entry, database in
            try database.vacate(parent, template.filename, for: nil)
            var row = PathRow(
                id: try database.freshIdentifier(self.options.identifier), parent: parent, name: template.filename,
                entry: entry)
            (row.kind, row.mark, row.told) = (template.kind, mark, PathAttributes())
            // The creator of a folder knows that it is empty: anything that others add is a change.
            row.isListed = template.kind == .folder
            if template.kind == .symlink { row.target = template.target ?? [] }
            return try self.confirm(entry, row, sent: sent, written: hash, database)
        }
        switch outcome {
        case .success(let row): return .answered(StoreResult(item: item(of: row), stillPending: unkept(fields)))
        case .failure(.taken(let other)):
            if storage.properties.keepsMarks, let other, other.path == path, other.attributes.mark == mark,
                other.kind.itemKind == template.kind,
                try table.read({ try $0.row(in: parent, template.filename) }) == nil
            {
                // The entry was never reported: the request was sent twice, as proxies do with unanswered requests.
                return .made(try await adopt(other, in: parent, mark, nil))
            }
            if let other = try await equal(other, to: contents, hash, at: path, in: parent) {
                return .made(try await adopt(other, in: parent, mark, intent))
            }
            return .answered(try await collided(template, contents, options, at: path, in: parent, other, mark))
        case .failure(.notFound): return nil
        case .failure(let error): throw error.general
        }
    }

    /// The occupant of the place, if it has the expected bytes and was never reported. Without marks, nothing else
    /// shows that a create was sent twice. A file of the same content by someone else may be taken for ours.
    private func equal(
        _ other: PathEntry?, to contents: ItemContents?, _ hash: [UInt8]?, at path: StoragePath, in parent: Int64
    ) async throws(RemoteStoreError) -> PathEntry? {
        guard !storage.properties.keepsMarks, let hash, let other, other.path == path, let name = path.name,
            other.kind == .file, other.size == contents?.size ?? 0,
            try table.read({ try $0.row(in: parent, name) }) == nil
        else { return nil }
        let row = PathRow(id: 0, parent: parent, name: name, entry: other)
        return try await self.hash(of: path, row) == hash ? other : nil
    }

    private func collided(
        _ template: ItemTemplate, _ contents: ItemContents?, _ options: CreateOptions, at path: StoragePath,
        in parent: Int64, _ told: PathEntry?, _ mark: String
    ) async throws(RemoteStoreError) -> StoreResult {
        let other = try await occupant(of: path, in: parent, told)
        guard options.contains(.mayAlreadyExist), other.name == template.filename, other.kind == template.kind,
            try await isEqual(other, template, contents, at: path)
        else { throw .filenameCollision(item(of: other)) }
        let row = try table.write { database in
            guard var row = try database.row(other.id) else { return other }
            row.mark = mark
            row.isListed = row.kind == .folder
            try database.put(row)
            return row
        }
        return StoreResult(item: item(of: row))
    }

    private func isEqual(
        _ row: PathRow, _ template: ItemTemplate, _ contents: ItemContents?, at path: StoragePath
    ) async throws(RemoteStoreError) -> Bool {
        switch template.kind {
        case .folder: return true
        case .symlink: return row.target == template.target
        case .file:
            guard let contents, contents.size == row.size else { return false }
            guard let hash = await ContentHash.of(contents) else {
                throw .cannotSynchronize("the content is shorter than declared")
            }
            return try await self.hash(of: path, row) == hash
        }
    }

    /// The item made by a create whose answer was lost, updated to the current content.
    private func completed(
        _ row: PathRow, _ template: ItemTemplate, _ fields: ItemFields, _ contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        var again = template
        again.identifier = ItemIdentifier(row: row.id)
        var changed = fields.subtracting(.contents)
        if let contents, let path = try path(of: row.id) {
            let hash = await ContentHash.of(contents)
            let there = contents.size == row.size ? try await self.hash(of: path, row) : nil
            if there == nil || there != hash { changed.insert(.contents) }
        }
        return try await modifyItem(
            again, base: item(of: row).version, changedFields: changed,
            contents: changed.contains(.contents) ? contents : nil)
    }
}
