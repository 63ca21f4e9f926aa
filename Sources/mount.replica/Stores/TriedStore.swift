import PathStore
import ReplicaModel

/// A store that was opened and tested before a domain is created.
struct TriedStore: Hashable, Sendable {
    let properties: StoreProperties
    /// The warning before an import: what can be lost in this store. Nil if nothing can.
    var note: String?
    /// The place of the login that was used, if `replica login` keeps one.
    var login: String?

    init(properties: StoreProperties, note: String? = nil) {
        (self.properties, self.note) = (properties, note)
    }

    init(_ storage: any PathStorage) {
        self.init(
            properties: PathStore.properties(of: storage), note: ProbeText.weakness(storage.properties))
    }
}
