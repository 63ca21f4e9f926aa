import ReplicaModel
import ReplicaTestSupport

extension Saboteur {
    func create(
        _ template: ItemTemplate, _ fields: ItemFields, _ contents: ItemContents?, _ options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        let place = store.properties.isCaseSensitive ? place(of: template) : nil
        let occupant = place.flatMap { store.item(at: $0) }
        switch fault {
        case .replacesOnCollision:
            if let occupant, !options.contains(.mayAlreadyExist) { store.delete(occupant.identifier) }
        case .adoptsAnyContent:
            if let occupant, contents != nil, options.contains(.mayAlreadyExist), occupant.kind == .file {
                return StoreResult(item: occupant)
            }
        case .adoptsWithoutContents:
            if let occupant, contents == nil, options.contains(.mayAlreadyExist) {
                return StoreResult(item: occupant)
            }
        case .makesEmptyFileFirst: if let place, contents != nil, occupant == nil { store.write([], to: place) }
        default: break
        }
        let silent = contents.map { ItemContents(file: $0.file, size: $0.size) }
        var sent = fault == .tellsNoProgress ? silent : contents
        if fault == .makesEmptyFileFirst, let bytes = try contents?.allBytes(), let place {
            store.write(bytes, to: place)
            sent = nil
            return StoreResult(item: store.item(at: place))
        }
        do {
            var result = try await store.createItem(
                basedOn: template, fields: fields, contents: sent, options: options)
            if fault == .echoesTemplateIdentifiers { result.item?.identifier = template.identifier }
            if fault == .hidesPending { result.stillPending = [] }
            return result
        } catch {
            throw misnamed(error, template)
        }
    }

    func modify(
        _ template: ItemTemplate, _ base: ItemVersion, _ fields: ItemFields, _ contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        let present = try await store.item(template.identifier)
        var fields = fields
        var base = base
        switch fault {
        case .ignoresBase:
            base = present.version
        case .appliesAllMetadata: fields.formUnion(.metadata)
        case .renamesSilentlyNot: fields.subtract(.place)
        default: break
        }
        do {
            var result = try await store.modifyItem(
                template, base: base, changedFields: fields, contents: contents)
            if fault == .keepsContentVersions { result.item?.version.content = present.version.content }
            return result
        } catch {
            throw misnamed(error, template)
        }
    }

    private func misnamed(_ error: RemoteStoreError, _ template: ItemTemplate) -> RemoteStoreError {
        if fault == .namesItemForParent, case .noSuchItem = error { return .noSuchItem(template.identifier) }
        return error
    }

    private func place(of template: ItemTemplate) -> String? {
        guard template.filename.isValid else { return nil }
        if template.parent == .root { return template.filename.description }
        return store.entries.first { $0.value.item.identifier == template.parent }.map {
            "\($0.key)/\(template.filename)"
        }
    }
}
