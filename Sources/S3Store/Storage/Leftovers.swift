import Foundation
import HTTPClient
import Threads

/// What calls that failed have left in the bucket: it is nobody's, and goes when the server is reached again, also by the next
/// process.
final class Leftovers: Sendable {
    enum One: Hashable, Sendable, Codable {
        /// A folder's move that was begun: its note, which is good as long as something is left to move.
        case move(note: [UInt8], from: [UInt8])
        /// An upload in parts that was begun, or may have been, and not ended: parts cost their owner room.
        case upload(MultipartUpload.Name)
    }

    private struct State {
        var ones: Set<One> = []
        /// Those of calls that are under way.
        var current: Set<One> = []
        var isFirst = true
    }

    /// Seconds after which what is in the store's own folder is nobody's: who was away for days goes on with a move.
    static let age: Int64 = 7 * 86_400

    private let state: Locked<State>
    private let path: String?

    /// - Parameter folder: Where they are noted for the next process; nil for nowhere.
    init(folder: String?) {
        path = folder.map { $0 + "/leftovers.json" }
        // What cannot be read is not known any more: the notes go in time, and of uploads a rule of the bucket's may tell.
        let data = path.flatMap { try? Data(contentsOf: URL(filePath: $0)) }
        let ones = data.flatMap { try? JSONDecoder().decode(Set<One>.self, from: $0) }
        state = Locked(State(ones: ones ?? []))
    }

    /// Notes what a call of now leaves when it ends here.
    func add(_ one: One) {
        change { state in
            state.ones.insert(one)
            state.current.insert(one)
        }
    }

    /// It is there no more.
    func remove(_ one: One) {
        change { state in
            state.ones.remove(one)
            state.current.remove(one)
        }
    }

    /// Its call has ended, and it is left.
    func leave(_ one: One) { state.withLock { _ = $0.current.remove(one) } }

    /// Those of no call that is under way.
    var left: [One] { state.withLock { Array($0.ones.subtracting($0.current)) } }

    /// Whether this has not been asked before.
    var isFirst: Bool {
        state.withLock { state in
            defer { state.isFirst = false }
            return state.isFirst
        }
    }

    /// Uploads of a key that are under way.
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
            // A disk that cannot take it is no reason to stop.
            try? data.write(to: URL(filePath: path), options: .atomic)
        }
    }
}

extension S3Storage {
    /// Has what was left go, as far as the server does it: after a change, for then the server is there and takes some.
    func clearLeftovers() async {
        for one in leftovers.left { await clear(one) }
        if leftovers.isFirst { await clearOld() }
    }

    /// Removes one that is left; what fails is left for later.
    func clear(_ one: Leftovers.One) async {
        do throws(CallError) {
            switch one {
            case .move(let note, let from):
                let isThere = try await get { () async throws(S3Error) in try await connection.isAny(from) }
                // It goes on when the call is made again.
                if isThere, try await get({ () async throws(S3Error) in try await connection.object(note) }) != nil {
                    return leftovers.leave(one)
                }
                try await removeOwn(note)
                leftovers.remove(one)
            case .upload(let name):
                if try await isEnded(name) { leftovers.remove(one) }
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

    /// Ends an upload. Of one whose beginning was not answered its key is known, and when that was.
    private func isEnded(_ name: MultipartUpload.Name) async throws(CallError) -> Bool {
        var identifiers = [name.identifier].compactMap(\.self)
        if name.identifier == nil {
            guard leftovers.current(name.key).isEmpty else { return false }
            let begun = try await get { () async throws(S3Error) in
                try await connection.uploads(of: name.key, since: name.begin - 120)
            }
            let current = leftovers.current(name.key)
            // One that begins now may be one of them.
            guard current.allSatisfy({ $0.identifier != nil }) else { return false }
            identifiers = begun.filter { identifier in !current.contains { $0.identifier == identifier } }
        }
        for identifier in identifiers {
            let upload = MultipartUpload(connection: connection, key: name.key, identifier: identifier)
            guard await upload.abort() else { return false }
        }
        return true
    }

    /// Removes what processes that died have left in the store's own folder, when it has become old.
    private func clearOld() async {
        do throws(CallError) {
            for name in ["move-", "trial-"] {
                for object in try await all(keys.own(name)) {
                    guard let moment = Moment.listing(object.modified), connection.now - moment > Leftovers.age else {
                        continue
                    }
                    try await removeOwn(object.key)
                }
            }
        } catch {
            // It is old then, too.
            return
        }
    }
}
