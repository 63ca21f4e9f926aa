package import PathStore
import ReplicaModel

extension RcloneStorage {
    package func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        if let refusal = refusal(of: path) ?? refusal(of: target) { throw .refused(refusal) }
        guard path != .root, target != .root else { throw .refused("the root can't be changed") }
        return try await call(path, isChange: true) { () async throws(CallError) in
            guard let item = try await self.find(path) else { throw .storage(.notFound) }
            guard item.isFolder == (version == nil), version == nil || item.version(self.abilities.hash) == version
            else {
                throw .storage(.changed(try await self.entry(item, path)))
            }
            guard try await self.hasFolder(target.parent ?? .root) else { throw .storage(.notFound) }
            // On a case-insensitive remote, a name in a different case is the same file.
            let isSame =
                !self.abilities.isCaseSensitive && self.text(path).lowercased() == self.text(target).lowercased()
            if !isSame, let there = try await self.find(target) {
                guard self.isCopy(there, of: item) else {
                    throw .storage(.taken(try await self.entry(there, target)))
                }
                try await self.change("operations/deletefile", RcloneInput(self.root, self.text(path)))
            } else {
                do throws(CallError) { try await self.move(item, path, to: target) } catch {
                    guard error.complaint?.isNotFound == true, try await self.find(path) == nil else { throw error }
                    throw .storage(.notFound)
                }
            }
            try await self.keep(path.parent)
            guard let moved = try await self.find(target), moved.isFolder == item.isFolder else {
                throw .request(.strange)
            }
            return try await self.entry(moved, target)
        }
    }

    /// Whether a file is what an interrupted move leaves at its target, on a remote where rclone copies and removes: only a hash
    /// proves that nothing is lost with the original. A copy that another client made counts as well.
    private func isCopy(_ there: RemoteItem, of item: RemoteItem) -> Bool {
        guard !abilities.movesFiles, !item.isFolder, !there.isFolder, there.size == item.size, let hash = abilities.hash
        else { return false }
        return item.hashes?[hash]?.isEmpty == false && there.version(hash) == item.version(hash)
    }

    private func move(_ item: RemoteItem, _ path: StoragePath, to target: StoragePath) async throws(CallError) {
        guard item.isFolder else {
            return try await change(
                "operations/movefile", RcloneInput(from: (root, text(path)), to: (root, text(target))))
        }
        var input = RcloneInput()
        (input.srcFs, input.dstFs) = (folder(text(path)), folder(text(target)))
        // If it is not a single step: file by file; a repeated call continues an interrupted move.
        (input.createEmptySrcDirs, input.deleteEmptySrcDirs) = (true, true)
        do throws(CallError) { try await change("sync/move", input) } catch {
            await clearFolders()
            throw error
        }
        await clearFolders()
    }

    /// Clears rclone's cache of folders: it keeps the IDs of folders on some remotes even after they were moved.
    func clearFolders() async {
        // If that fails, a later call may get a wrong answer, but nothing is lost.
        let _: RcloneNothing? = try? await connection.callOnce("fscache/clear", RcloneInput())
    }
}
