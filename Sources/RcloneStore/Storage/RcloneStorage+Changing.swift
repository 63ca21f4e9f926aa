import HTTPClient
package import PathStore
import ReplicaModel
import Threads

extension RcloneStorage {
    package func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        if let refusal = refusal(of: path) { throw .refused(refusal) }
        guard kind == .folder else { throw .unsupported("rclone's remotes have files and folders only") }
        guard path != .root else { throw .taken(nil) }
        return try await call(path, isChange: true) { () async throws(CallError) in
            guard try await self.hasFolder(path.parent ?? .root) else { throw .storage(.notFound) }
            if let there = try await self.present(path) { throw .storage(.taken(there)) }
            try await self.makeFolder(path)
            var item = try await self.find(path)
            if item == nil {
                // It was created in a folder that existed before.
                await self.clearFolders()
                try await self.makeFolder(path)
                item = try await self.find(path)
            }
            guard let item, item.isFolder else { throw .request(.strange) }
            return try await self.entry(item, path)
        }
    }

    private func makeFolder(_ path: StoragePath) async throws(CallError) {
        guard abilities.keepsEmptyFolders else { return try await mark(path) }
        try await change("operations/mkdir", RcloneInput(root, text(path)))
    }

    package func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        if let refusal = refusal(of: path) { throw .refused(refusal) }
        return try await call(path, isChange: true) { () async throws(CallError) in
            guard let item = try await self.find(path) else { throw .storage(.notFound) }
            guard !item.isFolder, let date = attributes.modificationDate, self.abilities.setsTimes,
                !self.hasFixedTimes.withLock({ $0 })
            else { return try await self.entry(item, path) }
            try await self.touch(path, date)
            guard let now = try await self.find(path) else { throw .storage(.notFound) }
            return try await self.entry(now, path)
        }
    }

    /// The server has no call for it, so it runs another rclone.
    private func touch(_ path: StoragePath, _ date: Timestamp) async throws(CallError) {
        let command = RcloneCommand(
            command: "touch", arg: ["--no-create", folder(text(path))],
            opt: ["config": settings, "timestamp": RemoteTime.text(date)])
        let output: RcloneOutput = try await get { () async throws(RcloneError) in
            try await connection.callOnce("core/command", command)
        }
        guard !output.error else {
            let complaint = RcloneError.Complaint(status: 500, text: output.result, paths: [text(path)])
            if complaint.isOfFixedTimes { return hasFixedTimes.withLock { $0 = true } }
            throw .storage(.unavailable("\(path): its time can't be set: \(complaint.lastLine)"))
        }
    }

    /// A path below the store's folder, in the form of rclone's command line.
    func folder(_ path: String) -> String {
        root.hasSuffix(":") || root.hasSuffix("/") || path.isEmpty ? root + path : "\(root)/\(path)"
    }

    // MARK: Removing

    package func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        guard refusal(of: path) == nil, path != .root else { return }
        await sweep()
        try await call(path, isChange: true) { () async throws(CallError) in
            guard let item = try await self.find(path) else { return }
            guard item.isFolder == (version == nil), version == nil || item.version(self.abilities.hash) == version
            else {
                throw .storage(.changed(try await self.entry(item, path)))
            }
            do throws(CallError) {
                if item.isFolder { return try await self.removeFolder(path) }
                try await self.change("operations/deletefile", RcloneInput(self.root, self.text(path)))
                try await self.keep(path.parent)
            } catch {
                guard error.complaint?.isNotFound == true else { throw error }
                if let now = try await self.present(path) { throw .storage(.changed(now)) }
            }
        }
    }

    private func removeFolder(_ path: StoragePath) async throws(CallError) {
        let own: [StoragePath]
        do throws(CallError) {
            let items = try await items(of: path)
            own = items.filter { !$0.item.isFolder && $0.place.name.map(Self.isOwn) == true }.map(\.place)
            guard own.count == items.count else { throw .storage(.notEmpty) }
        } catch {
            guard case .storage(.notFound) = error else { throw error }
            return
        }
        for place in own { try await change("operations/deletefile", RcloneInput(root, text(place))) }
        do throws(CallError) {
            try await change("operations/rmdir", RcloneInput(root, text(path)))
        } catch {
            if error.complaint?.isNotEmpty == true { throw .storage(.notEmpty) }
            // On a remote without empty folders it disappeared with the file that kept it.
            guard error.complaint?.isNotFound == true else { throw error }
        }
        try await keep(path.parent)
    }
}

extension RcloneError.Complaint {
    /// The last line of a command's output.
    fileprivate var lastLine: String {
        RcloneProcess.End(words: text).lastLine
    }
}
