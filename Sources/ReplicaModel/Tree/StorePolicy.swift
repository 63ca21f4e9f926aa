/// What the store and the domain's options say of all items.
struct StorePolicy {
    /// Whether programs may do only what the store's capabilities allow.
    var enforcesCapabilities = false
    /// Which mode bits and attributes are taken from the store.
    var privileges = Privileges()
    /// Whether it is recorded when files are used.
    var recordsUse = false
    /// Whether the store has a trash.
    var keepsTrash = false
    /// Whether the store can tell names apart that differ in case.
    var isCaseSensitive = true
    /// Whether the store knows which template an item was made from. Otherwise it may have the item already when it is sent again.
    var recognizesCreates = true
}
