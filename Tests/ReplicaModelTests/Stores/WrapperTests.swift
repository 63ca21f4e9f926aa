import Logging
import ReplicaModel
import ReplicaTestSupport
import Testing

/// Each wrapper keeps the promises of the store behind it, and adds its own function.
@Suite struct WrapperTests {
    @Test(arguments: StorePromises.all)
    func loggedStoreKeepsPromise(_ promise: StorePromise) async throws {
        let store = MemoryStore()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await promise.check(
            try await StoreSubject(other: MemoryClient(store)) { LoggedStore(store, logger: logger) })
    }

    @Test(arguments: StorePromises.all)
    func faultlessFaultyStoreKeepsPromise(_ promise: StorePromise) async throws {
        let store = MemoryStore()
        try await promise.check(try await StoreSubject(other: MemoryClient(store)) { FaultyStore(store) })
    }

    @Test func logHasMethodsIdentifiersAndCodesOnly() async throws {
        let log = LogLines()
        let store = MemoryStore()
        let logged = LoggedStore(store, logger: log.logger(.debug))
        let secret = store.write("secret bytes", to: "secret name")
        _ = try await logged.item(secret.identifier)
        store.setHooks(before: { _ throws(RemoteStoreError) in throw .cannotSynchronize("secret text") })
        await #expect(throws: RemoteStoreError.self) { try await logged.enumerateItems(in: .root, from: nil) }
        let text = log.text
        #expect(text.contains("method=item") && text.contains("item=\(secret.identifier)"))
        #expect(text.contains("error=cannotSynchronize") && text.contains("item=replica:root"))
        #expect(!text.contains("secret"))
    }

    @Test func faultsOccurAsScripted() async throws {
        let store = MemoryStore()
        let faulty = FaultyStore(store)
        let template = ItemTemplate(
            identifier: ItemIdentifier("t"), parent: .root, filename: FileName("folder"), kind: .folder)
        faulty.fail(.createItem, .before, with: .insufficientQuota, times: 2)
        faulty.fail(.createItem, .after, with: .serverUnreachable)
        for error in [RemoteStoreError.insufficientQuota, .insufficientQuota, .serverUnreachable] {
            #expect(store.item(at: "folder") == nil)
            await #expect(throws: error) {
                try await faulty.createItem(basedOn: template, fields: .place, contents: nil, options: [])
            }
        }
        #expect(faulty.isSpent)
        #expect(try await faulty.itemCreated(from: template) == store.item(at: "folder"))
    }
}
