/// What happened to an item on one side since the two sides were last in sync.
enum Change: Hashable, Sendable {
    case none
    case created
    /// These fields have changed.
    case changed(ItemFields)
    case deleted
}

/// What to do for an item: `down` in the tree, `up` in the store.
struct Reconciliation: Hashable, Sendable {
    enum Down: Hashable, Sendable {
        case nothing
        /// The item is created in the tree.
        case create
        /// These fields of the item in the tree are set to the store's values.
        case update(ItemFields)
        case delete
        /// An item deleted here is created again, because the store has newer content.
        case bringBack
        /// Both sides created an item with this name: they are merged if they are equal, otherwise the local one gives
        /// way.
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
    /// Whether the local content becomes a conflict copy, as an item of its own, before ``down`` is carried out.
    var keepsCopy = false
}

/// Decides what happens to an item, given the changes of the local and the remote side since their common base.
///
/// Invariants, each checked by the table tests:
/// - total: every pair of changes has a plan;
/// - no local content is overwritten or deleted unless it is in sync or kept as a copy;
/// - nothing is deleted on either side unless the other side's deletion is certain and this side has no change that the
///   deletion would lose;
/// - if both sides changed a field, the store's value wins, except for metadata, where the local value wins because it
///   is newer.
/// - Parameter holdsContent: Whether the whole content is local: a dataless item has nothing to lose.
func reconcile(local: Change, remote: Change, holdsContent: Bool) -> Reconciliation {
    switch (local, remote) {
    case (.none, .none): Reconciliation(down: .nothing, up: .nothing)
    case (.none, .created): Reconciliation(down: .create, up: .nothing)
    case (.none, .changed(let fields)): Reconciliation(down: .update(fields), up: .nothing)
    case (.none, .deleted): Reconciliation(down: .delete, up: .nothing)
    case (.created, .none): Reconciliation(down: .nothing, up: .create([]))
    case (.created, .created): Reconciliation(down: .meet, up: .create(.mayAlreadyExist))
    case (.created, .changed), (.created, .deleted): Reconciliation(down: .nothing, up: .create(.mayAlreadyExist))
    case (.changed(let fields), .none): Reconciliation(down: .nothing, up: .modify(fields))
    case (.changed(let ours), .changed(let theirs)): merge(ours, theirs)
    case (.changed(let ours), .created): merge(ours, .all)
    case (.changed(let fields), .deleted):
        holdsContent || fields.contains(.contents)
            ? Reconciliation(down: .nothing, up: .create(.deletionConflicted))
            : Reconciliation(down: .delete, up: .nothing)
    case (.deleted, .none): Reconciliation(down: .nothing, up: .delete)
    case (.deleted, .created): Reconciliation(down: .bringBack, up: .nothing)
    case (.deleted, .changed(let fields)):
        fields.contains(.contents)
            ? Reconciliation(down: .bringBack, up: .nothing) : Reconciliation(down: .nothing, up: .delete)
    case (.deleted, .deleted): Reconciliation(down: .nothing, up: .nothing)
    }
}

/// Merges the changes of an item that both sides changed.
private func merge(_ ours: ItemFields, _ theirs: ItemFields) -> Reconciliation {
    let isConflict = ours.contains(.contents) && theirs.contains(.contents)
    let down = theirs.subtracting(.metadata.intersection(ours))
    var up = ours.subtracting(theirs.subtracting(.metadata))
    if theirs.intersection(.place) != [] { up.subtract(.place) }
    return Reconciliation(
        down: down.isEmpty ? .nothing : .update(down), up: up.isEmpty ? .nothing : .modify(up), keepsCopy: isConflict)
}
