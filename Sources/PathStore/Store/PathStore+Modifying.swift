internal import GRDB
package import ReplicaModel
internal import Threads

extension PathStore {
    package func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        let row = try known(template.identifier)
        if changedFields.contains(.filename) { try check(template.filename) }
        if row.id == PathRow.root {
            guard changedFields.isDisjoint(with: [.contents, .place]) else {
                throw .cannotSynchronize("the root can't be changed")
            }
            return StoreResult(item: item(of: row), stillPending: changedFields)
        }
        if changedFields.contains(.contents), row.kind != .file { throw .cannotSynchronize("only files have contents") }
        let written = try await writtenBefore(row, base.content, contents)
        let base = written.base
        // The move comes first: if the name is taken, nothing must have been written.
        let place = changedFields.intersection(.place)
        if !place.isEmpty { try await move(template, changedFields, contents: contents, base) }
        if contents != nil, !written.isSame {
            let result = try await write(template, changedFields, contents, base)
            passed.withLock { $0[row.id] = nil }
            return result
        }
        let kept = changedFields.intersection(properties.fields).intersection(.metadata)
        let now = kept.isEmpty ? try await locate(row.id).row : try await set(template, kept)
        return StoreResult(
            item: item(of: now), stillPending: unkept(changedFields),
            shouldFetchContent: now.kind == .file && now.token != base)
    }

    /// The content of a lost call may be the one that is sent again.
    /// - Returns: The version that a write is based on, and whether the current content already is the one to be
    ///   written.
    private func writtenBefore(
        _ row: PathRow, _ base: String, _ contents: ItemContents?
    ) async throws(RemoteStoreError) -> (base: String, isSame: Bool) {
        try await recover(row.id)
        guard let contents, let now = try table.read({ try $0.row(row.id) }),
            let version = passed.withLock({ $0[row.id] }), version.bases.contains(base), version.token == now.token
        else { return (base, false) }
        guard now.size == contents.size, let hash = version.hash else { return (now.token, false) }
        return (now.token, await ContentHash.of(contents) == hash)
    }

    // MARK: Place

    private func move(
        _ template: ItemTemplate, _ fields: ItemFields, contents: ItemContents?, _ base: String
    ) async throws(RemoteStoreError) {
        guard let id = template.identifier.row else { throw .noSuchItem(template.identifier) }
        var (parent, name) = (PathRow.root, template.filename)
        let row = try known(template.identifier)
        parent = fields.contains(.parent) ? try known(template.parent).id : row.parent
        if !fields.contains(.filename) { name = row.name }
        if try known(ItemIdentifier(row: parent)).kind != .folder {
            throw .cannotSynchronize("only folders can contain items")
        }
        if try table.read({ try $0.isWithin(parent, id) }) {
            throw .cannotSynchronize("a folder can't be moved into itself")
        }
        for _ in 0..<8 {
            guard try path(of: parent) != nil else {
                try await locate(parent)
                continue
            }
            let isDone = try await acting(on: id) { (_) throws(RemoteStoreError) in
                try self.path(of: parent)?.appending(name)
            } _: { (row, path) async throws(RemoteStoreError) -> Bool? in
                guard let target = try self.path(of: parent)?.appending(name) else { return false }
                return try await self.move(row, path, to: target, parent, contents != nil ? base : nil)
            }
            if isDone { return }
            // The target folder has moved or is gone.
            try await locate(parent)
        }
        throw .itemUnavailable("the folder keeps moving")
    }

    /// - Parameter base: The content that is replaced afterwards; nil if none is.
    /// - Returns: Nil if the item is not at its path, false if the folder is not at the target's.
    private func move(
        _ known: PathRow, _ path: StoragePath, to target: StoragePath, _ parent: Int64, _ base: String?
    ) async throws(RemoteStoreError) -> Bool? {
        guard let name = target.name else { return false }
        for _ in 0..<3 {
            guard let row = try await peek(known, at: path) else { return nil }
            if let base, row.token != base { throw .versionConflict(item(of: row)) }
            if path == target { return true }
            if storage.properties.moveStrength == .none, let there = try await present(target) {
                throw .filenameCollision(item(of: try await occupant(of: target, in: parent, there)))
            }
            var intent = Intent(operation: .move, item: row.id)
            (intent.parent, intent.name, intent.kind) = (parent, name, row.kind)
            let outcome = try await doing(intent) { () async throws(PathStorageError) in
                try await storage.move(path, to: target, version: row.kind == .file ? row.version : nil)
            } confirm: { entry, database in
                try database.vacate(parent, name, for: row.id)
                var moved = row
                (moved.parent, moved.name) = (parent, name)
                _ = try self.confirm(entry, moved, sent: PathAttributes(), database)
            }
            switch outcome {
            case .success: return true
            case .failure(.taken(let other)):
                throw .filenameCollision(item(of: try await occupant(of: target, in: parent, other)))
            case .failure(.changed): continue
            case .failure(.notFound): return try await present(path) == nil ? nil : false
            case .failure(let error): throw error.general
            }
        }
        throw .itemUnavailable("it keeps changing")
    }

    // MARK: Content and attributes

    private func write(
        _ template: ItemTemplate, _ fields: ItemFields, _ contents: ItemContents?, _ base: String
    ) async throws(RemoteStoreError) -> StoreResult {
        guard let id = template.identifier.row, let contents else { throw .noSuchItem(template.identifier) }
        let sent = attributes(template, fields)
        guard let hash = await neededHash(of: contents, isCreate: false) else {
            throw .cannotSynchronize("the content is shorter than declared")
        }
        let row = try await acting(on: id) { (known, path) async throws(RemoteStoreError) -> PathRow? in
            var row = known
            // If the storage checks nothing, this is the only check.
            if storage.properties.replaceStrength == .none {
                guard let now = try await self.peek(row, at: path) else { return nil }
                row = now
            }
            row = try await self.settled(row, at: path)
            guard row.token == base else {
                guard let now = try await self.peek(row, at: path) else { return nil }
                throw .versionConflict(self.item(of: now))
            }
            var intent = Intent(operation: .write, item: id)
            (intent.size, intent.hash, intent.base) = (contents.size, hash, base)
            let (before, version) = (row, row.version)
            let outcome = try await self.doing(intent) { () async throws(PathStorageError) in
                guard let version else { throw .unsupported("a file without a version") }
                return try await self.storage.write(
                    path, contents: contents, attributes: sent, guard: .version(version))
            } confirm: { entry, database in
                try self.confirm(entry, try database.row(id) ?? before, sent: sent, written: hash, database)
            }
            switch outcome {
            case .success(let row): return row
            case .failure(.changed), .failure(.taken):
                guard let now = try await self.peek(row, at: path) else { return nil }
                // The request was sent twice, or another client wrote the same content: nothing is left to do.
                if now.size == contents.size, try await self.hash(of: path, now) == hash { return now }
                throw .versionConflict(self.item(of: now))
            case .failure(.notFound): return nil
            case .failure(let error): throw error.general
            }
        }
        return StoreResult(item: item(of: row), stillPending: unkept(fields))
    }

    private func set(_ template: ItemTemplate, _ fields: ItemFields) async throws(RemoteStoreError) -> PathRow {
        guard let id = template.identifier.row else { throw .noSuchItem(template.identifier) }
        let sent = attributes(template, fields)
        return try await acting(on: id) { (known, path) async throws(RemoteStoreError) -> PathRow? in
            // Other clients' changes can be distinguished from this one only before it is made.
            guard let row = try await self.peek(known, at: path) else { return nil }
            let outcome = try await self.doing(Intent(operation: .set, item: id)) { () async throws(PathStorageError) in
                try await self.storage.set(sent, of: path)
            } confirm: { entry, database in
                try self.confirm(entry, row, sent: sent, database)
            }
            switch outcome {
            case .success(let row): return row
            case .failure(.notFound): return nil
            case .failure(let error): throw error.general
            }
        }
    }
}
