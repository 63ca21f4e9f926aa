/// How the local bytes compare with those in the store. A zero may be a byte that was lost.
enum ContentComparison: Hashable, Sendable {
    case same
    /// The local content has nothing that the store lacks.
    case less
    /// The store has nothing that is not here.
    case more
    /// Each has something that the other lacks.
    case other
}

/// A file that may have been damaged by a power cut, compared with the store's current content.
struct ComparedFile: Hashable, Sendable {
    var comparison: ContentComparison
    /// Whether the local content may be damaged; otherwise only the store's may be.
    var isDoubtful: Bool
    /// Whether the file still looks like an edit that was recorded.
    var isEdited: Bool
    /// Whether the local content, or the store's, has a block of only zeros.
    var hasGapHere: Bool
    var hasGapInStore: Bool
    /// Whether the store's content is the last one that both sides had.
    var isKnownInStore: Bool
}

/// What happens to the file.
enum PlanAfterPowerCut: Hashable, Sendable {
    /// Both sides are equal.
    case inStep
    /// The store's content is downloaded.
    case takeTheirs
    /// The local content is uploaded.
    case send
    /// Both are kept: the local content becomes a conflict copy.
    case keepBoth
}

/// Decides what happens to a file that may have been damaged by a power cut.
///
/// Content that has less never overwrites content that has more, on either side. If that can't be decided, both are
/// kept.
func planAfterPowerCut(_ file: ComparedFile) -> PlanAfterPowerCut {
    switch file.comparison {
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
