/// How far something that a person asked for has come: counted by who does it, read by who shows it. Any thread.
public final class Work: Sendable {
    /// Counts so far.
    public struct Counts: Sendable, Equatable {
        public var done = 0
        /// What is known to be done in all; it may grow while folders are listed.
        public var total = 0
    }
    private let state = Locked(Counts())

    public init() {}

    /// Items done until now, and in all.
    public var items: Counts { state.withLock { $0 } }

    /// Adds to what is to be done.
    func begin(items: Int) {
        state.withLock { $0.total += items }
    }

    /// One item more is done.
    func finishItem() {
        state.withLock { $0.done += 1 }
    }
}
