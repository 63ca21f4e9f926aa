import ReplicaControl

/// What is done one after the other to make a domain, so that it can be taken back: all of it or nothing.
final class DomainCreation {
    /// The things done, in their order.
    enum Step: CaseIterable {
        case makeStore, makeFolders, writeRecord, makeLink, makeTree, openDomain, listen, mount
    }

    private var undoing: [() throws -> Void] = []
    private let didDo: (Step) throws -> Void

    /// - Parameter didDo: Called after each thing that is done; where it throws, that counts as the next one's failure.
    init(didDo: @escaping (Step) throws -> Void = { _ in }) {
        self.didDo = didDo
    }

    /// How much is done.
    var count: Int { undoing.count }

    /// Does one thing, which does nothing when it throws.
    func run<Value>(_ step: Step, _ body: () throws -> Value, undo: @escaping (Value) throws -> Void) throws -> Value {
        let value = try body()
        undoing.append { try undo(value) }
        try didDo(step)
        return value
    }

    /// Takes back all but the first things, the last one first. Ends at one that can't be taken back, for those before it
    /// are needed then.
    func takeBack(to first: Int = 0) throws {
        while undoing.count > first {
            let undo = undoing.removeLast()
            try undo()
        }
    }

    /// Takes everything back.
    /// - Returns: The failure, with what could not be taken back.
    func takenBack(after error: any Error) -> ControlFailure {
        var failure = ControlFailure(error)
        do { try takeBack() } catch { failure.message += "; \(ControlFailure(error).message)" }
        return failure
    }
}
