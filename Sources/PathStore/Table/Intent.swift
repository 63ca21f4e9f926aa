internal import ReplicaModel

/// A call, recorded before it is made: after a crash or a lost answer it tells what may have been done.
struct Intent: Hashable, Sendable {
    enum Deed: Int64, Hashable, Sendable {
        case create = 0
        case write = 1
        case move = 2
        case remove = 3
        case set = 4
    }

    /// Its number in the table; 0 before it is there.
    var number: Int64 = 0
    var deed: Deed
    /// The item; 0 for one that is still to be made.
    var item: Int64 = 0
    /// Where something is made, or moved to.
    var parent: Int64 = 0
    var name = FileName("")
    var kind = ItemKind.file
    var target: [UInt8]?
    /// Of the content that is written.
    var size: Int64 = 0
    /// The hash of the content; nil if it will not be needed.
    var hash: [UInt8]?
    /// Of the template that something is made from.
    var mark: String?
    /// The content version that a write was based on.
    var base: String?
}
