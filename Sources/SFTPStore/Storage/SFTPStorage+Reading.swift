package import PathStore
package import ReplicaModel
import Threads

extension SFTPStorage {
    /// The number of packets of one transfer in flight.
    static let window = 8

    package func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        try await call(path, isChange: false) { session async throws(CallError) in
            try await self.read(path, version, range, sink, session)
        }
    }

    private func read(
        _ path: StoragePath, _ version: String?, _ range: Range<Int64>?, _ sink: any ContentSink,
        _ session: SFTPSession
    ) async throws(CallError) -> PathEntry {
        let opening = session.send(.open(session.path(path), .read))
        // The opened file may be the target of a symlink.
        guard let there = try await attributes(at: path, session), there.isFile else { throw .storage(.notFound) }
        let handle = try await session.get { () async throws(RequestFailure) in try await opening.handle() }
        let opened = try await attributes(of: handle, session)
        guard let entry = plainEntry(path, opened, session), entry.kind == .file else { throw .storage(.notFound) }
        if let version, version != entry.version { throw .storage(.changed(entry)) }
        let whole = 0..<entry.size
        try await transfer((range ?? whole).clamped(to: whole), from: handle, into: sink, entry, session)
        // The bytes belong to one content only if the attributes were the same before and after.
        let now = try await attributes(of: handle, session)
        guard now.version == opened.version else { throw .storage(.changed(plainEntry(path, now, session))) }
        return entry
    }

    private func attributes(of handle: RemoteHandle, _ session: SFTPSession) async throws(CallError) -> SFTPAttributes {
        try await session.get { () async throws(RequestFailure) in
            try await session.send(.fstat(handle.bytes)).attributes()
        }
    }

    private func transfer(
        _ range: Range<Int64>, from handle: RemoteHandle, into sink: any ContentSink, _ entry: PathEntry,
        _ session: SFTPSession
    ) async throws(CallError) {
        var next = range.lowerBound
        var size = session.sizes.read
        var pending: [(range: Range<Int64>, reply: PendingReply)] = []
        while next < range.upperBound || !pending.isEmpty {
            while pending.count < Self.window, next < range.upperBound {
                let part = next..<min(next + Int64(size), range.upperBound)
                pending.append(
                    (part, try await session.transfer(.read(handle.bytes, at: part.lowerBound, count: part.count))))
                next = part.upperBound
            }
            let (part, reply) = pending.removeFirst()
            let bytes = try await session.get { () async throws(RequestFailure) in
                try await reply.data(most: part.count)
            }
            // It ends before its size: it is being truncated right now.
            guard let bytes else { throw .storage(.changed(nil)) }
            try await hand(bytes, at: part.lowerBound, to: sink)
            guard bytes.count < part.count else { continue }
            // The server sends less at a time.
            size = min(size, bytes.count)
            let rest = part.lowerBound + Int64(bytes.count)..<part.upperBound
            let again = try await session.transfer(.read(handle.bytes, at: rest.lowerBound, count: rest.count))
            pending.insert((rest, again), at: 0)
        }
    }

    private func hand(
        _ bytes: ArraySlice<UInt8>, at offset: Int64, to sink: any ContentSink
    ) async throws(CallError) {
        do throws(RemoteStoreError) {
            try await disk.run { () throws(RemoteStoreError) in
                let outcome = bytes.withUnsafeBytes { bytes in
                    Result { () throws(RemoteStoreError) in
                        if bytes.count > 4_096, bytes.allSatisfy({ $0 == 0 }) {
                            try sink.writeZeros(in: offset..<offset + Int64(bytes.count))
                        } else {
                            try sink.write(bytes, at: offset)
                        }
                    }
                }
                try outcome.get()
            }
        } catch {
            throw .storage(error == .cancelled ? .cancelled : .unavailable(error.message))
        }
    }
}

extension SFTPSession {
    /// Sends a request whose packet, or whose answer, has contents: only a few are in flight at a time.
    func transfer(_ request: SFTPRequest) async throws(CallError) -> PendingReply {
        do throws(RemoteStoreError) { try await transfers.enter() } catch { throw .request(.cancelled) }
        return connection.send(request) { [transfers] in transfers.leave() }
    }
}
