public import ReplicaModel

/// One call of a ``RemoteStore`` method, for logs in tests.
public struct StoreCall: Hashable, Sendable {
    public typealias Method = StoreMethod

    public var method: Method
    /// The item, the listed folder, or the template's identifier; nil if the method has none.
    public var identifier: ItemIdentifier?
    /// The template of a create or a modify.
    public var template: ItemTemplate?
    /// The fields sent with a create or a modify.
    public var fields: ItemFields = []
    /// The base of a modify or a delete.
    public var base: ItemVersion?
    /// The raw value of the method's options.
    public var options: UInt8 = 0
    /// Whether contents were passed.
    public var hasContents = false
    /// The range of a fetch; nil for all.
    public var range: Range<Int64>?

    /// A call of `method` about `identifier`.
    public init(_ method: Method, _ identifier: ItemIdentifier? = nil) {
        self.method = method
        self.identifier = identifier
    }

    static func create(
        _ template: ItemTemplate, _ fields: ItemFields, _ contents: ItemContents?, _ options: CreateOptions
    ) -> StoreCall {
        var call = StoreCall(.createItem, template.identifier)
        call.template = template
        call.fields = fields
        call.hasContents = contents != nil
        call.options = options.rawValue
        return call
    }

    static func itemCreated(_ template: ItemTemplate) -> StoreCall {
        var call = StoreCall(.itemCreated, template.identifier)
        call.template = template
        return call
    }

    static func modify(
        _ template: ItemTemplate, _ base: ItemVersion, _ fields: ItemFields, _ contents: ItemContents?
    ) -> StoreCall {
        var call = StoreCall(.modifyItem, template.identifier)
        call.template = template
        call.base = base
        call.fields = fields
        call.hasContents = contents != nil
        return call
    }

    static func delete(_ identifier: ItemIdentifier, _ base: ItemVersion) -> StoreCall {
        var call = StoreCall(.deleteItem, identifier)
        call.base = base
        return call
    }

    static func fetch(_ identifier: ItemIdentifier, _ range: Range<Int64>?) -> StoreCall {
        var call = StoreCall(.fetchContents, identifier)
        call.range = range
        return call
    }
}
