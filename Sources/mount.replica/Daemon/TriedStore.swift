import PathStore
import ReplicaModel

/// A store that was opened and looked at before a domain is made of it.
struct TriedStore: Hashable, Sendable {
    let properties: StoreProperties
    /// What a person is told before anything is imported: what can be lost there. Nil where nothing can.
    var note: String?

    init(properties: StoreProperties, note: String? = nil) {
        (self.properties, self.note) = (properties, note)
    }

    init(_ storage: any PathStorage) {
        self.init(
            properties: PathStore.properties(of: storage), note: ProbeWords.weakness(storage.properties))
    }
}
