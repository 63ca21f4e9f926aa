internal import ReplicaModel

/// A call, recorded before it is made: after a crash or a lost answer it shows what may have been done.
struct Intent: Hashable, Sendable {
    enum Operation: Int64, Hashable, Sendable {
        case create = 0
        case write = 1
        case move = 2
        case remove = 3
        case set = 4
    }

    /// Its number in the table; 0 before it is recorded.
    var number: Int64 = 0
    var operation: Operation
    /// The item; 0 if it is still to be created.
    var item: Int64 = 0
    /// The path of a create, or the target of a move.
    var parent: Int64 = 0
    var name = FileName("")
    var kind = ItemKind.file
    var target: [UInt8]?
    /// The size of the content that is written.
    var size: Int64 = 0
    /// The hash of the content; nil if it will not be needed.
    var hash: [UInt8]?
    /// The identifier of the template of a create.
    var mark: String?
    /// The content version that a write was based on.
    var base: String?
}
