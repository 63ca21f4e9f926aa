import ReplicaControl

/// The steps of creating a domain, which can be rolled back: all or nothing.
final class DomainCreation {
    /// The completed steps, in order.
    enum Step: CaseIterable {
        case makeStore, makeFolders, writeRecord, makeLink, makeTree, openDomain, listen, mount
    }

    private var undoing: [() throws -> Void] = []
    private let didDo: (Step) throws -> Void

    /// - Parameter didDo: Called after each step; if it throws, that counts as a failure of the next one.
    init(didDo: @escaping (Step) throws -> Void = { _ in }) {
        self.didDo = didDo
    }

    /// The number of completed steps.
    var count: Int { undoing.count }

    /// Runs one step, which must have no effect if it throws.
    func run<Value>(_ step: Step, _ body: () throws -> Value, undo: @escaping (Value) throws -> Void) throws -> Value {
        let value = try body()
        undoing.append { try undo(value) }
        try didDo(step)
        return value
    }

    /// Rolls back all but the first steps, the last one first. Stops at a step that cannot be rolled back, because it needs
    /// the earlier ones.
    func rollBack(to first: Int = 0) throws {
        while undoing.count > first {
            let undo = undoing.removeLast()
            try undo()
        }
    }

    /// Rolls back everything.
    /// - Returns: The failure, including what could not be rolled back.
    func rolledBack(after error: any Error) -> ControlFailure {
        var failure = ControlFailure(error)
        do { try rollBack() } catch { failure.message += "; \(ControlFailure(error).message)" }
        return failure
    }
}
