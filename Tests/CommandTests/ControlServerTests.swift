import Foundation
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import mount_replica

/// The control socket's server, with real sockets and a scripted service.
@Suite(.serialized) struct ControlServerTests {
    static let progress = MessageTests.progress

    @Test func eventsPrecedeTheAnswer() async throws {
        let domain = try FakeDomain { request, events in
            try await events.send(.progress(Self.progress))
            try await events.send(.items([MessageTests.itemStatus]))
            return .item(MessageTests.itemStatus)
        }
        let (answer, events) = try await domain.ask(.item(path: MessageTests.path))
        #expect(answer == .item(MessageTests.itemStatus))
        #expect(events == [.progress(Self.progress), .items([MessageTests.itemStatus])])
        #expect(domain.service.requests == [.item(path: MessageTests.path)])
        try await domain.stop()
    }

    /// Swift's pool has a thread for each core.
    @Test func requestsAreAnsweredWhileTheWholePoolIsBusy() async throws {
        let domain = try FakeDomain { _, _ in .done }
        let state = domain.state
        let isFree = Gate(false)
        try await onThread {
            defer { isFree.withLock { $0 = true } }
            // Waits in the threads of the pool, as far as other tests leave any.
            for _ in 0..<256 { Task.detached { Self.wait(for: isFree) } }
            let answer = try ControlClient(state: state).request(.status)
            #expect(answer == .done)
        }
        #expect(domain.service.requests == [.status])
        try await domain.stop()
    }

    private static func wait(for gate: Gate<Bool>) { gate.wait { $0 } }

    @Test func oneConnectionCarriesManyRequests() async throws {
        let domain = try FakeDomain { _, _ in .done }
        let state = domain.state
        try await onThread {
            let client = try ControlClient(state: state)
            for _ in 0..<200 { #expect(try client.request(.status) == .done) }
        }
        #expect(domain.service.requests.count == 200)
        try await domain.stop()
    }

    @Test(
        arguments: [
            (ControlFailure(.refused, "pinned"), ExitReason.refused, "pinned"),
            (Errno.noSuchFileOrDirectory, .noSuchItem, "no such item"),
            (Errno.resourceBusy, .busy, "it is in use"), (Errno.noSpace, .failed, "no space is left on this disk"),
            (Errno.noRouteToHost, .offline, "the store can't be reached"),
            (CancellationError(), .interrupted, "the request was cancelled"),
        ] as [(any Error & Sendable, ExitReason, String)])
    func aThrownErrorBecomesTheFailure(error: any Error & Sendable, code: ExitReason, message: String) async throws {
        let domain = try FakeDomain { _, _ in throw error }
        await #expect(throws: ControlFailure(code, message)) { try await domain.ask(.status) }
        try await domain.stop()
    }

    @Test func noConnectionIsAcceptedAfterAStop() async throws {
        let domain = try FakeDomain { _, _ in .done }
        _ = try await domain.ask(.hello)
        try await domain.stop()
        #expect(!FileManager.default.fileExists(atPath: domain.state.appending("control.sock").string))
        let error = await #expect(throws: ControlFailure.self) { try await domain.ask(.hello) }
        #expect(error?.code == .notRunning)
    }

    @Test func aDeadDaemonsSocketIsReplaced() async throws {
        let folder = try TemporaryFolder()
        let dead = try FakeDomain(in: folder)
        let left = try ControlSocket.listen(state: dead.state)
        try left.close()
        let error = await #expect(throws: ControlFailure.self) { try await dead.ask(.hello) }
        #expect(error?.code == .notRunning)
        let domain = try FakeDomain(in: folder) { _, _ in .done }
        _ = try await domain.ask(.hello)
        try await domain.stop()
    }

    @Test func theSocketIsPrivateAndKnowsItsPeer() async throws {
        let domain = try FakeDomain { _, _ in .done }
        let path = domain.state.appending("control.sock").string
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let socket = try ControlSocket.connect(state: domain.state)
        let peer = try ControlSocket.peer(of: socket)
        #expect(peer.user == geteuid())
        #expect(peer.process == getpid())
        try socket.close()
        try await domain.stop()
    }

    @Test func stateDirectoriesMayHaveLongPaths() async throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: "n", count: 190)
        let domain = try FakeDomain(name, in: folder) { _, _ in .done }
        #expect(domain.state.string.utf8.count > 200)
        _ = try await domain.ask(.hello)
        try await domain.stop()
    }

    @Test func aClientsTimeoutCancelsTheRequest() async throws {
        let isCancelled = Locked(false)
        let domain = try FakeDomain { _, _ in
            do { try await Task.sleep(for: .seconds(3600)) } catch { isCancelled.withLock { $0 = true } }
            return .done
        }
        await #expect(throws: ControlFailure(.timedOut, "timed out after 0.05 s")) {
            try await domain.ask(.wait(path: .root), timeout: 0.05)
        }
        #expect(try await eventually { isCancelled.withLock { $0 } })
        try await domain.stop()
    }

    @Test func aStopFinishesTheAnswerInProgress() async throws {
        let isAsked = Locked(false)
        let mayEnd = Locked(false)
        let domain = try FakeDomain { _, _ in
            isAsked.withLock { $0 = true }
            _ = try await eventually { mayEnd.withLock { $0 } }
            return .removed(RemovalResult(preserved: nil, files: 1))
        }
        async let answer = domain.ask(.remove(keep: .dirty))
        #expect(try await eventually { isAsked.withLock { $0 } })
        async let stopped: Void = domain.stop()
        mayEnd.withLock { $0 = true }
        #expect(try await answer.0 == .removed(RemovalResult(preserved: nil, files: 1)))
        try await stopped
    }

    @Test func aSlowReaderBlocksNoOtherClient() async throws {
        let sent = Locked(0)
        let domain = try FakeDomain { request, events in
            guard request == .watch else { return .done }
            while true {
                try await events.send(.items(Array(repeating: MessageTests.itemStatus, count: 100)))
                sent.withLock { $0 += 1 }
            }
        }
        let watcher = try RawClient(domain)
        try watcher.send(#"{"protocol":1,"id":1,"request":{"watch":{}}}"# + "\n")
        // It stops sending when the socket and the server's queue are full: the count no longer rises.
        var last = -1
        #expect(
            try await eventually {
                let now = sent.withLock { $0 }
                try await Task.sleep(for: .milliseconds(50))
                return now > 0 && now == sent.withLock { $0 }
            })
        last = sent.withLock { $0 }
        #expect(last > 0)
        _ = try await domain.ask(.status)
        watcher.close()
        try await domain.stop()
    }
}

/// Clients that don't keep to the protocol.
@Suite(.serialized) struct ControlServerAbuseTests {
    @Test func anInvalidLineIsAnsweredAndTheConnectionStaysOpen() async throws {
        let domain = try FakeDomain { _, _ in .done }
        let lines = try await onThread {
            let client = try RawClient(domain)
            try client.send("nonsense\n\n" + #"{"protocol":1,"id":5,"request":{"status":{}}}"# + "\n")
            return [try client.line(), try client.line()]
        }
        #expect(lines[0]?.contains("wrongProtocol") == true)
        #expect(lines[1] == #"{"answer":{},"id":5}"#)
        try await domain.stop()
    }

    @Test func aHalfClosedConnectionGetsItsAnswer() async throws {
        let domain = try FakeDomain { _, events in
            try await events.send(.progress(MessageTests.progress))
            return .done
        }
        let lines = try await onThread {
            let client = try RawClient(domain)
            try client.send(#"{"protocol":1,"id":5,"request":{"status":{}}}"# + "\n")
            client.endSending()
            return [try client.line(), try client.line(), try client.line()]
        }
        #expect(lines[0]?.hasPrefix(#"{"event":{"progress""#) == true)
        #expect(lines[1] == #"{"answer":{},"id":5}"#)
        #expect(lines[2] == nil)
        try await domain.stop()
    }

    @Test func anOverlongLineClosesTheConnection() async throws {
        let domain = try FakeDomain { _, _ in .done }
        let line = try await onThread {
            let client = try RawClient(domain)
            // The server may close before everything is sent: that is an error of this write, not of the test.
            do { try client.send(String(repeating: "x", count: ControlCodec.longest + 70_000)) } catch {}
            return try client.line()
        }
        #expect(line?.contains("the line is too long") == true)
        _ = try await domain.ask(.hello)
        try await domain.stop()
    }

    @Test func aDuplicateRequestIDIsRejected() async throws {
        let mayEnd = Locked(false)
        let domain = try FakeDomain { _, _ in
            _ = try await eventually { mayEnd.withLock { $0 } }
            return .done
        }
        let line = try await onThread {
            let client = try RawClient(domain)
            let request = #"{"protocol":1,"id":5,"request":{"status":{}}}"# + "\n"
            try client.send(request + request)
            return try client.line()
        }
        #expect(line?.contains("request 5 is already in progress") == true)
        mayEnd.withLock { $0 = true }
        try await domain.stop()
    }

    @Test func manyClientsConnectAndDisconnect() async throws {
        let domain = try FakeDomain { _, _ in .done }
        for _ in 0..<20 {
            try await onThread {
                let clients = try (0..<20).map { _ in try RawClient(domain) }
                for client in clients { try client.send(#"{"protocol":1,"id":1,"request":{"hello":{}}}"# + "\n") }
                for client in clients.dropFirst(10) { #expect(try client.line() == #"{"answer":{},"id":1}"#) }
            }
        }
        _ = try await domain.ask(.hello)
        try await domain.stop()
    }

    @Test func theNumberOfClientsIsLimited() async throws {
        let domain = try FakeDomain { _, _ in .done }
        let line = try await onThread {
            let clients = try (0..<64).map { _ in try RawClient(domain) }
            for client in clients {
                try client.send(#"{"protocol":1,"id":1,"request":{"hello":{}}}"# + "\n")
                _ = try client.line()
            }
            return try RawClient(domain).line()
        }
        #expect(line == #"{"failure":{"code":"busy","message":"too many clients"},"id":0}"#)
        try await domain.stop()
    }

    /// Whoever gets at the socket in spite of its mode.
    @Test(.enabled(if: geteuid() == 0)) func anotherUserIsRefused() async throws {
        let domain = try FakeDomain { _, _ in .done }
        var path = domain.state
        while path.starts(with: domain.folder.path) {
            chmod(path.string, 0o755)
            path.removeLastComponent()
        }
        let socket = domain.state.appending("control.sock").string
        chmod(socket, 0o777)
        let script = """
            import os, socket, sys
            os.setuid(12345)
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            print(client.makefile().readline(), end="")
            """
        let result = try await run("/usr/bin/env", "python3", "-c", script, socket)
        #expect(
            result.output == #"{"failure":{"code":"denied","message":"the domain belongs to another user"},"id":0}"#
                + "\n",
            "\(result)")
        try await domain.stop()
    }

    /// All threads are busy when a client asks and gives up: nobody wants any more what it asked for.
    @Test func abandonedRequestsAreNotStarted() async throws {
        let (mayGo, held) = (Latch(), Gate(0))
        let domain = try FakeDomain { request, _ in
            if request == .retry(path: nil) { Self.hold(mayGo, held) }
            return .done
        }
        try await onThread {
            let holders = try (0..<RequestThreads.most / 16).map { _ in
                let holder = try RawClient(domain)
                let lines = (1...16).map { #"{"protocol":1,"id":\#($0),"request":{"retry":{}}}"# + "\n" }
                try holder.send(lines.joined())
                return holder
            }
            held.wait(until: { $0 == RequestThreads.most }, { _ in })
            let client = try RawClient(domain)
            try client.send(#"{"protocol":1,"id":1,"request":{"approve":{}}}"# + "\nnonsense\n")
            // The request before it was read.
            #expect(try client.line()?.contains("not a request") == true)
            client.close()
            let other = try RawClient(domain)
            for _ in 0..<2 {
                try other.send("nonsense\n")
                _ = try other.line()
            }
            mayGo.open()
            for holder in holders { for _ in 1...16 { _ = try holder.line() } }
        }
        #expect(!domain.service.requests.contains(ControlRequest.approve))
        try await domain.stop()
    }

    private static func hold(_ latch: Latch, _ count: Gate<Int>) {
        count.withLock { $0 += 1 }
        latch.wait()
    }
}
