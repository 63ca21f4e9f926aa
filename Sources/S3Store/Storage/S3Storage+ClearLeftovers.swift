import Foundation
import HTTPClient
import Threads

extension S3Storage {
    /// Removes the remains, as far as possible. Called after a successful change: then the server is reachable and
    /// writable.
    func clearLeftovers() async {
        for one in leftovers.left { await clear(one) }
        if leftovers.isFirst { await clearOld() }
    }

    /// Removes one of them; after a failure it is tried again later.
    func clear(_ one: Leftovers.One) async {
        do throws(CallError) {
            switch one {
            case .move(let note, let from):
                let isThere = try await get { () async throws(S3Error) in try await connection.isAny(from) }
                // It continues when the call is repeated.
                if isThere, try await get({ () async throws(S3Error) in try await connection.object(note) }) != nil {
                    return leftovers.leave(one)
                }
                try await removeOwn(note)
                leftovers.remove(one)
            case .upload(let name):
                // It continues when the call is repeated. A call may have taken it since.
                guard !partNotes.mayContinue(name, now: connection.now), leftovers.claim(one) else { return }
                if try await isEnded(name) { await end(name) } else { leftovers.leave(one) }
            }
        } catch {
            leftovers.leave(one)
        }
    }

    func removeOwn(_ key: [UInt8]) async throws(CallError) {
        var request = S3Request("DELETE", key)
        request.mayRepeat = true
        let sent = request
        _ = try await get { () async throws(S3Error) in try await connection.send(sent) }
    }

    /// Aborts an upload. If its beginning was not answered, only its key and its time are known.
    private func isEnded(_ name: MultipartUpload.Name) async throws(CallError) -> Bool {
        var identifiers = [name.identifier].compactMap(\.self)
        if name.identifier == nil {
            guard leftovers.current(name.key).allSatisfy({ $0 == name }) else { return false }
            let begun = try await get { () async throws(S3Error) in
                try await connection.uploads(of: name.key, since: name.begin - 120)
            }
            let current = leftovers.current(name.key).filter { $0 != name }
            // An upload that begins now may be one of them.
            guard current.allSatisfy({ $0.identifier != nil }) else { return false }
            let kept = partNotes.note(of: name.key).unfinished?.name.identifier
            identifiers = begun.filter { identifier in
                identifier != kept && !current.contains { $0.identifier == identifier }
            }
        }
        for identifier in identifiers {
            let upload = MultipartUpload(connection: connection, key: name.key, identifier: identifier)
            guard await upload.abort() else { return false }
        }
        return true
    }

    /// Removes old objects of dead processes from the store's internal folder.
    private func clearOld() async {
        do throws(CallError) {
            for object in try await all(keys.own("upload-")) where isOld(object, limits.abandonment) {
                try await clearAbandoned(object.key)
            }
            for name in ["move-", "trial-"] {
                for object in try await all(keys.own(name)) where isOld(object, Leftovers.age) {
                    try await removeOwn(object.key)
                }
            }
        } catch {
            // The next process removes them: they stay old.
            return
        }
    }

    private func isOld(_ object: ListAnswer.Object, _ age: Int64) -> Bool {
        ServerTime.listing(object.modified).map { connection.now - $0 > age } ?? false
    }
}
