/// What the tree knows of the store: its properties and the domain's options that apply to all items, the names that
/// items have there, and the calls that it has answered.
struct StoreView {
    /// Whether the store's capabilities are enforced for programs.
    var enforcesCapabilities = false
    /// Which mode bits and attributes are taken from the store.
    var privileges = Privileges()
    /// Whether the times at which files are used are recorded.
    var recordsUse = false
    /// Whether the store has a trash.
    private(set) var keepsTrash = false
    /// Whether names that differ only in case are distinct in the store.
    private(set) var isCaseSensitive = true
    /// Whether the store knows the template of an item. If not, it may already have the item when it is sent again.
    private(set) var recognizesCreates = true
    var names: StoreNames
    var answers = AnswerLog()
    /// The last time that contents went back to earlier dates, in this run.
    private(set) var reversal: StoreReversal?
    /// Whether the log has to say so.
    private(set) var isReversalNews = false

    /// Adopts the store's properties, which may change when it is first reached.
    mutating func adopt(_ properties: StoreProperties) {
        keepsTrash = properties.keepsTrash
        isCaseSensitive = properties.isCaseSensitive
        recognizesCreates = properties.recognizesCreates
        names.conflicts = ConflictNames(longest: properties.longestName)
    }

    /// - Parameters:
    ///   - date: The date that a content went back to.
    ///   - now: The time of the run's clock.
    mutating func noteReversal(to date: Timestamp, now: Double) {
        if reversal?.isRecent(at: now) != true { isReversalNews = true }
        reversal = StoreReversal.noting(date, now: now, after: reversal)
    }

    /// Whether contents went back to earlier dates, and that was not logged yet.
    mutating func takeReversalNews() -> Bool {
        defer { isReversalNews = false }
        return isReversalNews
    }
}
