import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

/// The requirements that the compiler enforces for every store.
@Suite struct StoreRequirementTests {
    private static let store = """
        import ReplicaModel

        struct Store: RemoteStore {
            var properties: StoreProperties { StoreProperties() }
            func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item { throw .cancelled }
            func enumerateItems(
                in folder: ItemIdentifier, from page: EnumerationPage?
            ) async throws(RemoteStoreError) -> ItemPage { throw .cancelled }
            func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor { throw .cancelled }
            func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch { throw .cancelled }
            func fetchContents(
                of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
            ) async throws(RemoteStoreError) -> Item { throw .cancelled }
            func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? { throw .cancelled }
            func modifyItem(
                _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
            ) async throws(RemoteStoreError) -> StoreResult { throw .cancelled }
            func deleteItem(_ identifier: ItemIdentifier, base: ItemVersion) async throws(RemoteStoreError) {}
            func signals() -> AsyncStream<Void> { AsyncStream { _ in } }
            func makeDurable() async throws(RemoteStoreError) {}
            func importDidFinish() async {}
        }

        """

    private static let createItem = """
        extension Store {
            func createItem(
                basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
            ) async throws(RemoteStoreError) -> StoreResult { throw .cancelled }
        }
        """

    /// Type-checks a source with the modules of these tests.
    private func compile(_ source: String) async throws -> ProgramResult {
        let folder = try TemporaryFolder()
        let file = try folder.write(source, to: "Store.swift")
        let build = Programs.folder.deletingLastPathComponent().deletingLastPathComponent()
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let modules = [
            Programs.folder.appending(path: "Modules"), root.appending(path: "Sources/CLinux"),
            // Where SwiftPM writes the module map of a target in C.
            Programs.folder.appending(path: "CWalk.build"),
            build.appending(path: "checkouts/GRDB.swift/Sources/GRDBSQLite"),
            build.appending(path: "checkouts/swift-system/Sources/CSystem/include"),
        ]
        return try await run(
            "/usr/bin/env",
            ["swiftc", "-swift-version", "6", "-typecheck", file.string, "-module-cache-path", "\(folder.path)/cache"]
                + modules.flatMap { ["-I", $0.path] })
    }

    /// A requirement without a default.
    @Test func statement89_aStoreWithoutCreateItemDoesNotCompile() async throws {
        let whole = try await compile(Self.store + Self.createItem)
        #expect(whole.code == 0, "\(whole)")
        let lacking = try await compile(Self.store)
        #expect(lacking.code != 0)
        let errors = lacking.errors.split(separator: "\n").filter { $0.contains(": error: ") && $0.contains(".swift:") }
        #expect(
            errors.count == 1 && errors.first?.contains("does not conform to protocol 'RemoteStore'") == true,
            "\(lacking)")
        #expect(lacking.errors.contains("protocol requires function 'createItem("), "\(lacking)")
    }
}
