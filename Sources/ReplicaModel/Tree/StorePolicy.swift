/// The properties of the store and of the domain's options that apply to all items.
struct StorePolicy {
    /// Whether the store's capabilities are enforced for programs.
    var enforcesCapabilities = false
    /// Which mode bits and attributes are taken from the store.
    var privileges = Privileges()
    /// Whether the times at which files are used are recorded.
    var recordsUse = false
    /// Whether the store has a trash.
    var keepsTrash = false
    /// Whether names that differ only in case are distinct in the store.
    var isCaseSensitive = true
    /// Whether the store knows the template of an item. If not, it may already have the item when it is sent again.
    var recognizesCreates = true
}
