import Foundation
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import DirectoryStore

/// Common steps of the store's tests.
extension DirectoryStore {
    @discardableResult
    func make(
        _ name: String, _ text: String? = nil, in parent: ItemIdentifier = .root, fields: ItemFields = .place,
        metadata: ItemMetadata = ItemMetadata(), progress: @escaping @Sendable () -> Void = {}
    ) async throws -> Item {
        try await make(
            bytes: FileName(name), text, in: parent, fields: fields, metadata: metadata, progress: progress)
    }

    @discardableResult
    func make(
        bytes name: FileName, _ text: String? = nil, in parent: ItemIdentifier = .root, fields: ItemFields = .place,
        metadata: ItemMetadata = ItemMetadata(), progress: @escaping @Sendable () -> Void = {}
    ) async throws -> Item {
        let template = ItemTemplate(
            identifier: ItemIdentifier("template of \(name)"), parent: parent, filename: name,
            kind: text == nil ? .folder : .file, metadata: metadata)
        guard let text else {
            return try #require(
                try await createItem(basedOn: template, fields: fields, contents: nil, options: []).item)
        }
        return try await ItemContents.with(Array(text.utf8)) { contents async throws(RemoteStoreError) in
            let told = ItemContents(file: contents.file, size: contents.size) { _ in progress() }
            let result = try await createItem(
                basedOn: template, fields: fields.union(.contents), contents: told, options: [])
            guard let item = result.item else { throw .cannotSynchronize("no item") }
            return item
        }
    }

    @discardableResult
    func rewrite(
        _ item: Item, _ text: String, progress: @escaping @Sendable () -> Void = {}
    ) async throws -> Item {
        let template = ItemTemplate(
            identifier: item.identifier, parent: item.parent, filename: item.filename, kind: .file)
        return try await ItemContents.with(Array(text.utf8)) { contents async throws(RemoteStoreError) in
            let told = ItemContents(file: contents.file, size: contents.size) { _ in progress() }
            let result = try await modifyItem(
                template, base: item.version, changedFields: .contents, contents: told)
            guard let item = result.item else { throw .cannotSynchronize("no item") }
            return item
        }
    }

    @discardableResult
    func touch(_ item: Item, _ date: Timestamp) async throws -> Item {
        var template = ItemTemplate(
            identifier: item.identifier, parent: item.parent, filename: item.filename, kind: .file)
        template.metadata.modificationDate = date
        let result = try await modifyItem(
            template, base: item.version, changedFields: .modificationDate, contents: nil)
        return try #require(result.item)
    }

    func text(_ item: Item) async throws -> String {
        let buffer = ContentBuffer()
        _ = try await fetchContents(of: item.identifier, version: nil, range: nil, into: buffer)
        return String(decoding: buffer.bytes, as: UTF8.self)
    }

    /// Waits for changes until `isReached`.
    func changes(
        from anchor: SyncAnchor, until isReached: ([ItemIdentifier: Item], Set<ItemIdentifier>) -> Bool
    ) async throws -> (updated: [ItemIdentifier: Item], deleted: Set<ItemIdentifier>) {
        var anchor = anchor
        var updated: [ItemIdentifier: Item] = [:]
        var deleted: Set<ItemIdentifier> = []
        let haveCome = try await eventually {
            let batch = try await enumerateChanges(from: anchor)
            for item in batch.updated { updated[item.identifier] = item }
            deleted.formUnion(batch.deleted)
            anchor = batch.anchor
            return isReached(updated, deleted)
        }
        #expect(haveCome, "the changes never came: \(updated.count) updated, \(deleted.count) deleted")
        return (updated, deleted)
    }

    /// What is told when all that happened so far has been told: a marker made now comes last.
    func changes(from anchor: SyncAnchor, marker: String) async throws -> (
        updated: [ItemIdentifier: Item], deleted: Set<ItemIdentifier>
    ) {
        let folder = "\(tree.root.path)/\(marker)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        var found = try await changes(from: anchor) { updated, _ in
            updated.values.contains { $0.filename == FileName(marker) }
        }
        found.updated = found.updated.filter { $0.value.filename != FileName(marker) }
        return found
    }
}

/// Runs a program and waits for it.
@discardableResult
func run(_ program: String, _ arguments: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
}

/// Expects `body` to end with an error of this code.
func expectFailure(
    _ code: String, _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async {
    let error = await #expect(throws: RemoteStoreError.self, sourceLocation: sourceLocation) { try await body() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
}
