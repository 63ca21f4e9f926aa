import Foundation
import HTTPClient
import Threads

/// The remains of failed calls in the bucket, which are removed when the server is reached again, also by the next
/// process.
final class Leftovers: Sendable {
    enum One: Hashable, Sendable, Codable {
        /// The note of an unfinished move of a folder; it is valid as long as something is left to move.
        case move(note: [UInt8], from: [UInt8])
        /// A multipart upload that was begun, or may have been, and not ended: its parts take storage that the owner
        /// pays for.
        case upload(MultipartUpload.Name)
    }

    private struct State {
        var ones: Set<One> = []
        /// The entries of calls in flight.
        var current: Set<One> = []
        var isFirst = true
    }

    /// Seconds after which an object in the store's internal folder is abandoned: long enough to continue a move after
    /// days offline.
    static let age: Int64 = 7 * 86_400

    private let state: Locked<State>
    private let path: String?

    /// - Parameter folder: Where they are noted for the next process; nil if they are not.
    init(folder: String?) {
        path = folder.map { $0 + "/leftovers.json" }
        // If it can't be read, they are forgotten: notes are removed when they are old, and uploads by a rule of the
        // bucket if it has one.
        let data = path.flatMap { try? Data(contentsOf: URL(filePath: $0)) }
        let ones = data.flatMap { try? JSONDecoder().decode(Set<One>.self, from: $0) }
        state = Locked(State(ones: ones ?? []))
    }

    /// Notes what a call in flight would leave if the process ended now.
    func add(_ one: One) {
        change { state in
            state.ones.insert(one)
            state.current.insert(one)
        }
    }

    /// Takes one that is left into a call in flight again.
    /// - Returns: False if another call has it.
    func claim(_ one: One) -> Bool {
        var isFree = false
        change { state in
            state.ones.insert(one)
            isFree = state.current.insert(one).inserted
        }
        return isFree
    }

    /// It was removed.
    func remove(_ one: One) {
        change { state in
            state.ones.remove(one)
            state.current.remove(one)
        }
    }

    /// Its call has ended, and it remains.
    func leave(_ one: One) { state.withLock { _ = $0.current.remove(one) } }

    func knows(_ one: One) -> Bool { state.withLock { $0.ones.contains(one) } }

    /// The entries without a call in flight.
    var left: [One] { state.withLock { Array($0.ones.subtracting($0.current)) } }

    /// True at the first call only.
    var isFirst: Bool {
        state.withLock { state in
            defer { state.isFirst = false }
            return state.isFirst
        }
    }

    /// The uploads of a key in flight.
    func current(_ key: [UInt8]) -> [MultipartUpload.Name] {
        state.withLock { state in
            state.current.compactMap { one in
                guard case .upload(let name) = one, name.key == key else { return nil }
                return name
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            let before = state.ones
            body(&state)
            guard let path, state.ones != before, let data = try? JSONEncoder().encode(state.ones) else { return }
            // A failure to write is ignored.
            try? data.write(to: URL(filePath: path), options: .atomic)
        }
    }
}

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

    private func removeOwn(_ key: [UInt8]) async throws(CallError) {
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
            // It is then old too.
            return
        }
    }
    private func isOld(_ object: ListAnswer.Object, _ age: Int64) -> Bool {
        ServerTime.listing(object.modified).map { connection.now - $0 > age } ?? false
    }
}

/// Uploads are noted in the bucket as well: the notes of a domain that was removed are gone, and the parts stay. Parts alone don't
/// show whose they are.
extension S3Storage {
    private func note(of name: MultipartUpload.Name) -> [UInt8] {
        keys.own("upload-" + String(name.ticket, radix: 16))
    }

    /// Notes an upload that has begun. Without the note, only this store's own folder knows it.
    func announce(_ name: MultipartUpload.Name) async {
        guard let data = try? JSONEncoder().encode(name) else { return }
        var request = S3Request("PUT", note(of: name))
        (request.body, request.mayRepeat) = (.bytes(Array(data)), true)
        // If it can't be written, the upload goes on without.
        _ = try? await connection.send(request)
    }

    /// Removes the note of an upload.
    /// - Returns: Whether that succeeded.
    func withdraw(_ name: MultipartUpload.Name) async -> Bool {
        do throws(CallError) { try await removeOwn(note(of: name)) } catch { return false }
        return true
    }

    /// An upload that was completed or aborted: nothing is left of it when its note is removed.
    func end(_ name: MultipartUpload.Name, isWithdrawn: Bool = false) async {
        var isGone = isWithdrawn
        if !isGone { isGone = await withdraw(name) }
        if isGone { leftovers.remove(.upload(name)) } else { leftovers.leave(.upload(name)) }
    }

    /// Aborts the upload of an old note, unless something was sent since, and removes the note.
    private func clearAbandoned(_ note: [UInt8]) async throws(CallError) {
        let answer = try await get { () async throws(S3Error) in try await connection.send(S3Request("GET", note)) }
        // One that can't be read stays.
        guard let name = try? JSONDecoder().decode(MultipartUpload.Name.self, from: Data(answer.body)),
            name.key.starts(with: keys.base), note == self.note(of: name), let identifier = name.identifier,
            !leftovers.knows(.upload(name))
        else { return }
        let upload = MultipartUpload(connection: connection, key: name.key, identifier: identifier)
        do throws(S3Error) {
            let age = limits.abandonment
            guard
                try await upload.parts().values.allSatisfy({ part in
                    part.modified.map { connection.now - $0 > age } ?? false
                })
            else { return }
        } catch {
            // It was completed, or its parts may not be listed: then nobody knows that it is abandoned.
            guard case .complaint(let complaint) = error, complaint.code == "NoSuchUpload" else { return }
        }
        if await upload.abort() { try await removeOwn(note) }
    }
}
