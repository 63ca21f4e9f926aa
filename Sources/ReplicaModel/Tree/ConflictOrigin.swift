/// Where the local side of a conflict comes from.
struct ConflictOrigin: Hashable {
    /// The item with the store's side.
    var original: ItemIdentifier
    /// Seconds since 1970.
    var date: Double
}
