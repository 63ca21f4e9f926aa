/// How the bytes here and those in the store compare. A zero is what is left of a byte that was lost.
enum Likeness: Hashable, Sendable {
    case same
    /// Nothing is here that the store does not have.
    case less
    /// The store has nothing that is not here.
    case more
    /// Each has what the other has not.
    case other
}

/// A file that may have lost something when the power was cut, compared with what the store has now.
struct ComparedFile: Hashable, Sendable {
    var likeness: Likeness
    /// Whether what is here may be lost, or else only what is in the store.
    var isDoubtful: Bool
    /// Whether an edit was recorded that it still looks like.
    var isEdited: Bool
    /// Whether a block of nothing but zeros is in what is here, or in what the store has.
    var hasGapHere: Bool
    var hasGapInStore: Bool
    /// Whether the store's content is the one that both sides had.
    var isKnownInStore: Bool
}

/// What becomes of it.
enum PlanAfterPowerCut: Hashable, Sendable {
    /// Both sides have the same.
    case inStep
    /// The store's content comes here.
    case takeTheirs
    /// What is here is sent.
    case send
    /// Both are kept: what is here becomes a conflict copy.
    case keepBoth
}

/// Decides what becomes of a file that may have lost something when the power was cut.
///
/// Nothing that has less goes over what has more, on either side; what can't be told is kept twice.
func planAfterPowerCut(_ file: ComparedFile) -> PlanAfterPowerCut {
    switch file.likeness {
    case .same: return .inStep
    case .less: return .takeTheirs
    case .more: return .send
    case .other: break
    }
    if file.isDoubtful {
        return file.isEdited && file.isKnownInStore && !file.hasGapHere ? .send : .keepBoth
    }
    guard !file.isKnownInStore else { return .send }
    return file.hasGapInStore ? .keepBoth : .takeTheirs
}
