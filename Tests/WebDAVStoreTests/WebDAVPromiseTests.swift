import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import WebDAVStore

/// The promises that every store keeps, on real servers.
@Suite struct WebDAVPromiseTests {
    @Test(arguments: WebDAVServer.allPlain + [.digest])
    func keepsEveryPromise(_ server: WebDAVServer) async throws {
        let abilities = try await server.abilities()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, promise) in StorePromises.all.filter({ Self.isOwed($0, abilities) }).enumerated() {
                if number >= 8 { try await group.next() }
                group.addTask {
                    do { try await Self.check(promise, server, abilities) } catch {
                        Issue.record("\(promise): \(error)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// lighttpd rejects control characters, which one promise uses.
    private static func isOwed(_ promise: StorePromise, _ abilities: ServerAbilities) -> Bool {
        abilities.takesControls || promise.name != "names come back byte for byte"
    }

    private static func check(
        _ promise: StorePromise, _ server: WebDAVServer, _ abilities: ServerAbilities
    ) async throws {
        let table = try TemporaryFolder()
        let other = try await server.folder()
        let storage = try await WebDAVStorage.open(
            other.connection.address, WebDAVServer.login, abilities: abilities)
        let outcome: Result<Void, any Error>
        do {
            let subject = try await StoreSubject(other: other) {
                try PathStore(storage, folder: table.path.string, options: .alwaysListing)
            }
            outcome = .success(try await promise.check(subject))
        } catch {
            outcome = .failure(error)
        }
        storage.close()
        other.connection.close()
        try outcome.get()
    }
}
