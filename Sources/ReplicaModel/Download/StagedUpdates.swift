/// Newer content of complete files, until it is moved into place.
struct StagedUpdates {
    /// Files whose newer content is being fetched.
    var updating: Set<ItemIdentifier> = []
    /// Fetched content.
    var staged: [ItemIdentifier: StagedContent] = [:]
    /// Results of content comparisons, until they are applied.
    var compared: [ItemIdentifier: ComparedContent] = [:]
    private var lastStaged = 0

    /// A number for a file in staging.
    mutating func nextStaged() -> Int {
        lastStaged += 1
        return lastStaged
    }
}
