import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import WebDAVStore

/// The test of a server's features sends what doesn't belong together at the same time, and concludes nothing from that.
@Suite struct WebDAVTrialTests {
    /// Holds requests until several are there, for some rounds.
    private final class Rounds: Sendable {
        private struct State {
            /// The requests before: two for the login and the folder, and two for each of two files.
            var left = 6
            var (waiting, round) = (0, 0)
            /// Whether a round did not become full in time.
            var isOver = false
        }

        private let state = Gate(State())
        private let (size, count): (Int, Int)

        init(of size: Int, count: Int) { (self.size, self.count) = (size, count) }

        /// The number of full rounds.
        var full: Int { state.withLock { $0.round } }

        /// - Returns: Whether it was held until its round was full.
        func hold() -> Bool {
            let round: Int? = state.withLock { state in
                if state.left > 0 {
                    state.left -= 1
                    return nil
                }
                guard state.round < count, !state.isOver else { return nil }
                state.waiting += 1
                defer { if state.waiting == size { (state.waiting, state.round) = (0, state.round + 1) } }
                return state.round
            }
            guard let round else { return false }
            let limit = Double(eventLimit.components.seconds)
            let isDecided: (State) -> Bool = { $0.round > round || $0.isOver }
            let isFull = state.wait(seconds: limit, until: isDecided) { (state, _) in
                if state.round == round { state.isOver = true }
                return state.round > round
            }
            // Whoever waits as well goes on.
            state.withLock { _ in }
            return isFull
        }
    }

    private func open(
        _ server: WebDAVServer, _ plan: @escaping HTTPFaultProxy.Plan
    ) async throws -> ServerAbilities {
        let port = try server.port
        let proxy = try HTTPFaultProxy(to: { port }, plan: plan)
        defer { proxy.close() }
        let folder = try await server.folder()
        defer { folder.connection.close() }
        let names = folder.connection.address.path.map { String(decoding: $0.bytes, as: UTF8.self) }
        let address = try WebDAVAddress("127.0.0.1:\(proxy.port)/\(names.joined(separator: "/"))", isSecure: false)
        let storage = try await WebDAVStorage.open(address, WebDAVServer.login, timeLimit: .seconds(3_600))
        defer { storage.close() }
        #expect(try await folder.children() == [])
        return storage.abilities
    }

    /// Three times eight requests each wait for the others: a client that sends one after the other would never get there.
    @Test func independentTestsRunAtOnce() async throws {
        let rounds = Rounds(of: ServerTrial.rivals, count: 3)
        let found = try await open(.lighttpd) { _ in
            _ = rounds.hold()
            return nil
        }
        #expect(rounds.full == 3)
        #expect(found.createsInOneStep && found.replacesInOneStep && found.movesInOneStep && found.writesWhole)
    }

    /// A server that fails as long as it has eight requests at the same time has the same features as one that does not.
    @Test(arguments: [WebDAVServer.lighttpd, .nginx]) func failuresUnderLoadAreNoFindings(_ server: WebDAVServer)
        async throws
    {
        var wanted = try await server.abilities()
        let rounds = Rounds(of: ServerTrial.rivals, count: 1)
        var found = try await open(server) { _ in rounds.hold() ? .internalError : nil }
        #expect(rounds.full == 1)
        // Two writes within a second need a machine that has time for it.
        (wanted.isExact, found.isExact) = (true, true)
        #expect(found == wanted)
    }

    /// Nor is a failure confirmed by a second one meanwhile: it is tested again alone.
    @Test func aFailureIsNotConfirmedUnderLoad() async throws {
        let found = try await open(.lighttpd) { request in
            let (method, path) = (request.words.first, request.words.dropFirst().first ?? "")
            return method == "PROPPATCH" && !path.contains("-alone-") ? .internalError : nil
        }
        #expect(found.keepsProperties)
    }
}
