/// The store's recent deletions.
struct DeletionState {
    /// The deletions that are decided together.
    var window: DeletionWindow?
    /// Deletions that wait for the user.
    var held = 0
    /// Whether the user approved these, and they are not applied yet.
    var isApproved = false
    /// When the deletions are checked again, in seconds since 1970.
    var nextCheck: Double?
}
