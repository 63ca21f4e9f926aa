import ReplicaModel
import ReplicaTestSupport
import Testing

@Suite struct MemoryStoreTests {
    /// The kinds of store that the memory store can simulate.
    enum Flavor: CaseIterable {
        case usual, smallPages, poor, withTrash

        func make() -> MemoryStore {
            let store = MemoryStore()
            var properties = StoreProperties()
            switch self {
            case .usual: break
            case .smallPages:
                store.pageSize = 7
                store.batchSize = 3
            case .poor:
                properties.fields = [.contents, .place, .modificationDate]
                properties.keepsSymlinks = false
                properties.fetchesRanges = false
                properties.hasChangeFeed = false
                properties.isCaseSensitive = false
                properties.longestName = 100
            case .withTrash: properties.keepsTrash = true
            }
            store.properties = properties
            return store
        }
    }

    @Test(arguments: StorePromises.all, Flavor.allCases)
    func keepsPromise(_ promise: StorePromise, flavor: Flavor) async throws {
        let store = flavor.make()
        try await promise.check(try await StoreSubject(other: MemoryClient(store)) { store })
    }

    @Test func everyCallIsLogged() async throws {
        let store = MemoryStore()
        let template = ItemTemplate(
            identifier: ItemIdentifier("t"), parent: .root, filename: FileName("file"), kind: .file)
        try await ItemContents.with([1]) { contents async throws(RemoteStoreError) in
            _ = try await store.createItem(
                basedOn: template, fields: [.place, .contents], contents: contents, options: .mayAlreadyExist)
        }
        await #expect(throws: RemoteStoreError.noSuchItem(ItemIdentifier("none"))) {
            try await store.item(ItemIdentifier("none"))
        }
        await store.importDidFinish()
        #expect(store.calls.map(\.method) == [.createItem, .item, .importDidFinish])
        #expect(store.calls.first?.template == template)
        #expect(store.calls.first?.hasContents == true)
        #expect(store.calls.first?.options == CreateOptions.mayAlreadyExist.rawValue)
    }

    @Test func hooksFailCallsBeforeAndAfterTheirEffect() async throws {
        let store = MemoryStore()
        let template = ItemTemplate(
            identifier: ItemIdentifier("t"), parent: .root, filename: FileName("folder"), kind: .folder)
        store.setHooks(before: { _ throws(RemoteStoreError) in throw .notAuthenticated })
        await #expect(throws: RemoteStoreError.notAuthenticated) {
            try await store.createItem(basedOn: template, fields: .place, contents: nil, options: [])
        }
        #expect(store.item(at: "folder") == nil)
        store.setHooks(after: { _ throws(RemoteStoreError) in throw .serverUnreachable })
        await #expect(throws: RemoteStoreError.serverUnreachable) {
            try await store.createItem(basedOn: template, fields: .place, contents: nil, options: [])
        }
        #expect(store.item(at: "folder") != nil)
    }

    @Test func everyContentIsRemembered() {
        let store = MemoryStore()
        store.write("first", to: "a/file")
        store.write("second", to: "a/file")
        store.delete("a")
        #expect(store.everHeld(Array("first".utf8)) && store.everHeld(Array("second".utf8)))
        #expect(store.entries.isEmpty)
    }

    @Test func identifiersCanBeReassigned() async throws {
        let store = MemoryStore()
        let old = store.write("text", to: "folder/file")
        let anchor = try await store.currentAnchor()
        store.reassignIdentifiers()
        let new = try #require(store.item(at: "folder/file"))
        #expect(new.identifier != old.identifier)
        #expect(try await store.item(new.identifier) == new)
        await #expect(throws: RemoteStoreError.noSuchItem(old.identifier)) { try await store.item(old.identifier) }
        await #expect(throws: RemoteStoreError.syncAnchorExpired) { try await store.enumerateChanges(from: anchor) }
    }
}
