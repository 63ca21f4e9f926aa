import ReplicaModel

/// A stand-in for a network service: a flat dictionary of objects with atomic requests.
public actor ExampleService {
    /// An object of the service.
    struct Object: Sendable {
        var item: Item
        var content: [UInt8]
        /// The template from which the object was created.
        var template: ItemIdentifier
    }

    private var objects: [ItemIdentifier: Object] = [:]
    private var count = 0

    /// A service that has only the root folder.
    public init() {
        let root = Item(
            identifier: .root, parent: .root, filename: FileName("/"), kind: .folder,
            version: ItemVersion(content: "", metadata: "0"))
        objects[.root] = Object(item: root, content: [], template: .root)
    }

    func object(_ key: ItemIdentifier) throws(RemoteStoreError) -> Object {
        guard let object = objects[key] else { throw .noSuchItem(key) }
        return object
    }

    func object(madeFrom template: ItemIdentifier) -> Object? { objects.values.first { $0.template == template } }

    func objects(in folder: ItemIdentifier) -> [Object] {
        objects.values.filter { $0.item.parent == folder && $0.item.identifier != .root }
    }

    /// Adds an object with a key and versions assigned by the service.
    func add(_ object: Object) throws(RemoteStoreError) -> Item {
        var object = object
        count += 1
        object.item.identifier = ItemIdentifier("object \(count)")
        try check(object.item)
        return put(object, isRewritten: true)
    }

    /// Changes an object with `body`, which may throw.
    /// - Returns: The new and the old item.
    func change(
        _ key: ItemIdentifier, _ body: @Sendable (inout Object) throws(RemoteStoreError) -> Void
    ) throws(RemoteStoreError) -> (Item, former: Item) {
        let old = try object(key)
        var new = old
        try body(&new)
        try check(new.item)
        return (put(new, isRewritten: new.content != old.content), old.item)
    }

    /// Removes an object if `isMeant`, and a folder only if it is empty; unknown keys are ignored.
    func remove(_ key: ItemIdentifier, if isMeant: @Sendable (Item) -> Bool) throws(RemoteStoreError) {
        guard let item = objects[key]?.item else { return }
        guard key != .root, isMeant(item) else { throw .deletionRejected(item) }
        guard objects(in: key).isEmpty else { throw .directoryNotEmpty(key) }
        objects[key] = nil
    }

    private func put(_ object: Object, isRewritten: Bool) -> Item {
        var object = object
        count += 1
        object.item.version.metadata = "\(count)"
        object.item.size = Int64(object.content.count)
        if isRewritten, object.item.kind == .file { object.item.version.content = "\(count)" }
        objects[object.item.identifier] = object
        return object.item
    }

    /// Rejects names that are taken or invalid, and parents that do not exist or are below the item.
    private func check(_ item: Item) throws(RemoteStoreError) {
        guard item.filename.isValid else { throw .cannotSynchronize("no folder can hold this name") }
        guard objects[item.parent] != nil else { throw .noSuchItem(item.parent) }
        var ancestor = item.parent
        while ancestor != .root {
            if ancestor == item.identifier { throw .cannotSynchronize("a folder can't be moved into itself") }
            ancestor = objects[ancestor]?.item.parent ?? .root
        }
        let other = objects(in: item.parent).first { $0.item.filename == item.filename }
        if let other, other.item.identifier != item.identifier { throw .filenameCollision(other.item) }
    }
}
