/// What happened to an item on one side since both sides were last in step.
enum Change: Hashable, Sendable {
    case none
    case created
    /// These fields became others.
    case changed(ItemFields)
    case deleted
}

/// What is to be done for an item: below in the tree, above in the store.
struct Plan: Hashable, Sendable {
    enum Down: Hashable, Sendable {
        case nothing
        /// The item appears in the tree.
        case create
        /// These fields of the tree's item become the store's.
        case update(ItemFields)
        case delete
        /// What was deleted here appears again: the store has something newer.
        case bringBack
        /// Both sides made an item of this name: they become one where they are equal, else the local one gives way.
        case meet
    }

    enum Up: Hashable, Sendable {
        case nothing
        case create(CreateOptions)
        case modify(ItemFields)
        case delete
    }

    var down: Down
    var up: Up
    /// Whether the local content becomes a conflict copy, an item of its own, before ``down`` happens.
    var keepsCopy = false
}

/// Decides what becomes of one item from what happened to its three trees: the base, the local and the remote one.
///
/// Invariants, each held by the table tests:
/// - total: every pair of changes has a plan;
/// - no local content is overwritten or deleted unless it was in step or is kept as a copy;
/// - nothing is deleted on either side unless the other side's deletion is certain and this side changed nothing that
///   the deletion would lose;
/// - where both sides changed one field, the store's value stands, except for metadata, where the newer local one does.
/// - Parameter holdsContent: Whether the whole content is here: a dataless item has nothing to lose.
func plan(local: Change, remote: Change, holdsContent: Bool) -> Plan {
    switch (local, remote) {
    case (.none, .none): Plan(down: .nothing, up: .nothing)
    case (.none, .created): Plan(down: .create, up: .nothing)
    case (.none, .changed(let fields)): Plan(down: .update(fields), up: .nothing)
    case (.none, .deleted): Plan(down: .delete, up: .nothing)
    case (.created, .none): Plan(down: .nothing, up: .create([]))
    case (.created, .created): Plan(down: .meet, up: .create(.mayAlreadyExist))
    case (.created, .changed), (.created, .deleted): Plan(down: .nothing, up: .create(.mayAlreadyExist))
    case (.changed(let fields), .none): Plan(down: .nothing, up: .modify(fields))
    case (.changed(let ours), .changed(let theirs)): meet(ours, theirs)
    case (.changed(let ours), .created): meet(ours, .all)
    case (.changed(let fields), .deleted):
        holdsContent || fields.contains(.contents)
            ? Plan(down: .nothing, up: .create(.deletionConflicted)) : Plan(down: .delete, up: .nothing)
    case (.deleted, .none): Plan(down: .nothing, up: .delete)
    case (.deleted, .created): Plan(down: .bringBack, up: .nothing)
    case (.deleted, .changed(let fields)):
        fields.contains(.contents)
            ? Plan(down: .bringBack, up: .nothing) : Plan(down: .nothing, up: .delete)
    case (.deleted, .deleted): Plan(down: .nothing, up: .nothing)
    }
}

/// Both sides changed the item.
private func meet(_ ours: ItemFields, _ theirs: ItemFields) -> Plan {
    let isConflict = ours.contains(.contents) && theirs.contains(.contents)
    let down = theirs.subtracting(.metadata.intersection(ours))
    var up = ours.subtracting(theirs.subtracting(.metadata))
    if theirs.intersection(.place) != [] { up.subtract(.place) }
    return Plan(
        down: down.isEmpty ? .nothing : .update(down), up: up.isEmpty ? .nothing : .modify(up), keepsCopy: isConflict)
}
