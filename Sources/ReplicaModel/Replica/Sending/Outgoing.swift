internal import SystemPackage

/// One call of the store, as the tree was when it began.
struct Outgoing: Sendable {
    enum Call: Sendable, Hashable {
        case create(CreateOptions)
        case modify(base: ItemVersion)
        case delete(base: ItemVersion)
        /// Asks whether an earlier create arrived.
        case resolve
    }

    var number: ItemNumber
    /// ``Node/edits`` when it began.
    var edits: UInt64
    var call: Call
    var template: ItemTemplate
    var fields: ItemFields
    /// Where the item was to be, in the replica's numbers.
    var parent: ItemNumber
    /// An open file with the content, the engine's to close; nil when no content is sent.
    var source: Int32?
    var stamp = Stamp()
}

extension Replica {
    /// The identifier of an item that the store has not named yet: the same at every attempt (statements 71 to 73).
    func templateIdentifier(of number: ItemNumber) -> ItemIdentifier {
        ItemIdentifier("\(templatePrefix)-\(number.rawValue)")
    }

    /// The identifier that goes into a template: the store's own, or one that stands for it until it has one. A
    /// reimported item has another than when it was new.
    func templateIdentifier(of node: Node) -> ItemIdentifier {
        guard let base = node.base else { return templateIdentifier(of: node.number) }
        guard node.flags.contains(.reimport), !node.isDeleted else { return base.identifier }
        return ItemIdentifier("\(templatePrefix)-\(node.number.rawValue)-again")
    }
}

/// What the engine may do about an item now.
enum Step: Sendable {
    case send(Outgoing)
    case wait(Readiness)
    /// The file was cut while not all of it was here: what is left of it has to come first.
    case fetch
}
