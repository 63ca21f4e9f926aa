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

    /// Hands a leftover to a call that continues it.
    /// - Returns: False if another call has it.
    func claim(_ one: One) -> Bool {
        var isFree = false
        change { state in
            state.ones.insert(one)
            isFree = state.current.insert(one).inserted
        }
        return isFree
    }

    /// Notes that it was removed.
    func remove(_ one: One) {
        change { state in
            state.ones.remove(one)
            state.current.remove(one)
        }
    }

    /// Notes that its call has ended without removing it.
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
