import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import WebDAVStore

/// A session on real servers in which each request fails in turn and is repeated like by the engine: at the end of each
/// step every file exists exactly once, as written.
///
/// In `scripts/test` each request gets some of the faults, always including the lost answer; `scripts/fault-test`
/// applies all of them.
@Suite struct WebDAVBrokenNetworkTests {
    /// A server that checks conditions, and one that does not.
    private static let servers = [WebDAVServer.lighttpd, .nginx]

    @Test(arguments: servers, ScriptedSession.Act.allCases)
    func aFailureOfAnyRequestLosesAndDuplicatesNothing(_ server: WebDAVServer, _ act: ScriptedSession.Act) async throws
    {
        let known = try await server.abilities()
        let count = await FaultCampaign.eachRequest(few: act == .folders ? 1 : 2) { (name, silenceSeconds, choice) in
            await Self.play(act, server, known, name, silenceSeconds, choice)
        }
        #expect(count > 40)
    }

    /// Random requests fail.
    @Test(arguments: servers + [.apache, .sabre, .rclone, .nextcloud], ScriptedSession.Act.allCases)
    func randomFailuresLoseAndDuplicateNothing(_ server: WebDAVServer, _ act: ScriptedSession.Act) async throws {
        let known = try await server.abilities()
        await FaultCampaign.byChance { (name, silenceSeconds, choice) in
            await Self.play(act, server, known, name, silenceSeconds) { (count, request) in
                let fault = choice(count, request)
                // rclone removes what has the target's name before it looks for the source: the second move destroys the first.
                return server == .rclone && fault == .sentTwice && request.words.first == "MOVE" ? nil : fault
            }
        }
    }

    /// A proxy sends the move of an upload twice, and delivers the answer to the second one: rclone's server refuses it with 403.
    /// What is at the path is unknown then, but nothing was refused.
    @Test func aMoveThatHappenedIsNotRefused() async throws {
        let known = try await WebDAVServer.rclone.abilities()
        let session = try await WebDAVFaultedSession(.rclone, known) { (_, request) in
            request.words.first == "MOVE" ? .sentTwice : nil
        }
        try await session.run { store in
            let file = try await Self.create(store)
            let error = await #expect(throws: RemoteStoreError.self) {
                try await session.armed { try await Self.write("second", to: file, store) }
            }
            #expect(error == .serverUnreachable)
        }
    }

    /// The answer to an upload under a temporary name is lost. What is there then is not another client's file.
    @Test func aLostUploadWithoutContentIsNoConflict() async throws {
        let known = try await WebDAVServer.rclone.abilities()
        let isLost = Locked(false)
        let session = try await WebDAVFaultedSession(.rclone, known) { (_, request) in
            guard request.words.first == "PUT" else { return nil }
            return isLost.withLock { isLost in
                defer { isLost = true }
                return isLost ? nil : .lostAnswer
            }
        }
        try await session.run { store in
            let file = try await Self.create(store)
            let error = await #expect(throws: RemoteStoreError.self) {
                try await session.armed { try await Self.write("", to: file, store) }
            }
            #expect(error == .serverUnreachable)
            try await Self.write("", to: file, store)
        }
        #expect(isLost.withLock { $0 })
        #expect(try session.files()["file"] == [])
    }

    private static func create(_ store: PathStore) async throws -> Item {
        try await RetryingStore(store).create("file", .file, in: .root, Array("first".utf8))
    }

    /// Replaces the content of a file, in one attempt.
    private static func write(_ text: String, to file: Item, _ store: PathStore) async throws {
        let template = ItemTemplate(
            identifier: file.identifier, parent: .root, filename: file.filename, kind: .file)
        try await ItemContents.with(Array(text.utf8)) { contents async throws(RemoteStoreError) in
            _ = try await store.modifyItem(
                template, base: file.version, changedFields: .contents, contents: contents)
        }
    }

    /// Faults that could be mistaken for features of a server.
    private static let telling: Set<HTTPFault> = [
        .lostAnswer, .portal, .noSuchPage, .internalError, .conflict, .sentTwice,
    ]

    /// A server's features are not concluded from another machine's answers.
    @Test(arguments: servers) func aFailureOfAnyRequestDoesNotChangeTheDetectedFeatures(_ server: WebDAVServer)
        async throws
    {
        var measured = try await server.abilities()
        // As WebDAVStorageTests finds it; here a slow machine may have missed it.
        measured.isExact = server == .lighttpd
        let wanted = measured
        let faults = HTTPFault.allCases.filter { FaultCampaign.isWhole || Self.telling.contains($0) }
        let count = await FaultCampaign.eachRequest(of: faults) { (name, silenceSeconds, choice) in
            do {
                let session = try await WebDAVFaultedSession(server, wanted, silenceSeconds: silenceSeconds, choice)
                do throws(ServerFailure) {
                    var found = try await session.abilities()
                    // Two writes within a second need a machine that has time for it.
                    if !found.isExact { found.isExact = wanted.isExact }
                    #expect(found == wanted, "\(session.faulted)")
                } catch {
                    switch error {
                    // It is retried, also after a page that reports a missing folder.
                    case .unreachable, .busy, .refused: break
                    default: Issue.record("\(name): \(error), after \(session.faulted)")
                    }
                }
                return session.faulted.count
            } catch {
                Issue.record("\(error)")
                return 0
            }
        }
        #expect(count > 20 * faults.count)
    }

    /// - Returns: How many requests were faulted.
    private static func play(
        _ act: ScriptedSession.Act, _ server: WebDAVServer, _ known: ServerAbilities, _ name: String,
        _ silenceSeconds: Int,
        _ choice: @escaping StepFaults.Choice
    ) async -> Int {
        do {
            let session = try await WebDAVFaultedSession(server, known, silenceSeconds: silenceSeconds, choice)
            do { try await session.play(act) } catch {
                Issue.record("\(server), \(act), \(name): \(error), after \(session.faulted)")
            }
            return session.faulted.count
        } catch {
            Issue.record("\(error)")
            return 0
        }
    }
}
