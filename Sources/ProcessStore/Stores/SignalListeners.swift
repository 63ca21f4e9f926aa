import PathStore
import ReplicaModel
import Threads

/// The receivers of signals. Unread signals are kept for each, up to a number of folders; beyond that they mean any
/// folder.
final class SignalListeners: Sendable {
    /// The unread signals of one receiver.
    fileprivate struct Box {
        var folders: Set<StoragePath> = []
        var isAnywhere = false
        let wake: AsyncStream<Void>.Continuation
    }

    fileprivate struct State {
        var boxes: [Int: Box] = [:]
        var count = 0
        var isFinished = false
    }

    /// The maximum number of unread folders of one receiver.
    private static let mostFolders = 64
    private let state = Locked(State())

    /// Signals that something may have changed in a folder, or anywhere for nil.
    func signal(_ folder: StoragePath?) {
        let wakes = state.withLock { state in
            for number in state.boxes.keys { state.boxes[number]?.add(folder, most: Self.mostFolders) }
            return state.boxes.values.map(\.wake)
        }
        for wake in wakes { wake.yield() }
    }

    /// Ends all streams, now and later ones.
    func finish() {
        let wakes = state.withLock { state in
            state.isFinished = true
            return state.boxes.values.map(\.wake)
        }
        for wake in wakes { wake.finish() }
    }

    /// A stream for one listener.
    func stream() -> AsyncStream<StoragePath?> {
        let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.count += 1
            if !state.isFinished { state.boxes[state.count] = Box(wake: wake) }
            return state.isFinished ? nil : state.count
        }
        guard let number else { return AsyncStream { $0.finish() } }
        wake.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.boxes.removeValue(forKey: number) } }
        return AsyncStream(unfolding: { [weak self] in
            while true {
                if let next = self?.take(number) { return .some(next) }
                var isOver = true
                for await _ in wakes {
                    isOver = false
                    break
                }
                if isOver { return nil }
            }
        })
    }

    /// - Returns: A folder or anywhere; nil if there is no signal.
    private func take(_ number: Int) -> StoragePath?? {
        state.withLock { $0.boxes[number]?.take() ?? nil }
    }
}

extension SignalListeners.Box {
    fileprivate mutating func add(_ folder: StoragePath?, most: Int) {
        if let folder, !isAnywhere { folders.insert(folder) } else { isAnywhere = true }
        if folders.count > most { isAnywhere = true }
        if isAnywhere { folders = [] }
    }

    fileprivate mutating func take() -> StoragePath?? {
        if isAnywhere {
            isAnywhere = false
            return .some(nil)
        }
        return folders.popFirst().map { .some($0) }
    }
}
