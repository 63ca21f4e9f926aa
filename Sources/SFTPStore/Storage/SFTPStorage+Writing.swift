package import PathStore
package import ReplicaModel

extension SFTPStorage {
    package func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard condition: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        try check(path)
        return try await call(path, isChange: true) { session async throws(CallError) in
            try await self.changing([path.parent ?? .root], session) { () async throws(CallError) in
                try await Upload(storage: self, session: session, path: path).run(contents, attributes, condition)
            }
        }
    }

    /// Removes a temporary file: now, or when the server is reached again.
    func clear(_ temporary: [UInt8], _ session: SFTPSession) {
        // Noted first: the next connection may exist before the loss of this one is known.
        reconnector.removeLater(temporary)
        let reply = session.send(.remove(temporary))
        Task { [reconnector] in
            do throws(RequestFailure) { try await reply.done() } catch {
                if case .lost = error { return }
            }
            reconnector.isRemoved(temporary)
        }
    }

    /// The unexpected entry at the path.
    func taken(_ path: StoragePath, _ session: SFTPSession) async throws(CallError) -> PathStorageError? {
        guard let attributes = try await attributes(at: path, session) else { return nil }
        guard let entry = try await entry(path, attributes, session) else {
            return .refused(
                "\(session.address): \(path): the name is taken there by something that is not a file, folder or symlink"
            )
        }
        return .taken(entry)
    }
}

extension Timestamp {
    /// The seconds of the protocol: 1970 to 2106, clamped.
    var sftp: UInt32 { UInt32(clamping: seconds) }
}
