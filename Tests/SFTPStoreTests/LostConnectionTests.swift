import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import SFTPStore

/// Connections that end, and servers that hang, on a real OpenSSH server.
@Suite struct LostConnectionTests {
    private static let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        limits.firstPause = .milliseconds(200)
        limits.steady = .milliseconds(500)
        // No test ends by this.
        limits.silence = .seconds(3_600)
        return limits
    }()

    /// Readers don't notice it: the connection is reopened.
    @Test func aReadRequestIsRepeatedOnANewConnection() async throws {
        try await SFTPScratch.run(limits: Self.limits) { scratch in
            try await scratch.write("file", "text")
            for _ in 0..<3 {
                scratch.server.cut()
                #expect(try await scratch.read("file") == Array("text".utf8))
                // After one that did not last there would be a pause.
                try await Task.sleep(for: .milliseconds(900))
                #expect(try await scratch.names() == ["file"])
            }
            #expect(scratch.storage.trouble == nil)
        }
    }

    @Test func anUnreachableServerIsReportedAndReconnected() async throws {
        try await SFTPScratch.run(limits: Self.limits) { scratch in
            try await scratch.write("file", "text")
            scratch.server.stop()
            let error = try await failure { _ = try await scratch.read("file") }
            guard case .unreachable(let text) = error else { throw BrokenPromise("\(error)") }
            #expect(text.contains("Connection refused") && scratch.storage.trouble == text)
            // No attempt is made during the pause.
            for _ in 0..<100 { _ = try await failure { _ = try await scratch.names() } }
            try scratch.server.start()
            #expect(try await eventually { (try? await scratch.names()) == ["file"] })
            #expect(scratch.storage.trouble == nil)
        }
    }

    @Test func aHungServerTimesOut() async throws {
        var limits = Self.limits
        limits.silence = .seconds(1)
        let chosen = limits
        try await SFTPScratch.run(limits: chosen) { scratch in
            try await scratch.write("file", "text")
            let hung = scratch.storage.reconnector.process
            scratch.server.signalSessions(SIGSTOP)
            // Another connection answers, though on a busy machine perhaps not the second one.
            func mayPass(_ error: any Error) -> Bool {
                if case PathStorageError.unreachable = error { true } else { false }
            }
            let content = try await eventually(despite: mayPass) { try await scratch.read("file") }
            #expect(content == Array("text".utf8))
            let living = scratch.storage.reconnector.process
            #expect(living != hung)
            #expect(try await eventually { kill(hung, 0) == -1 })
            // An idle connection is not a hung one.
            try await Task.sleep(for: .milliseconds(1_500))
            #expect(scratch.storage.reconnector.process == living && scratch.storage.trouble == nil)
        }
    }

    /// A cancelled caller does not wait for a server that does not answer.
    @Test func cancellationDoesNotWait() async throws {
        try await SFTPScratch.run(limits: Self.limits) { scratch in
            try await scratch.write("file", "text")
            scratch.server.signalSessions(SIGSTOP)
            let outcome = Locked<PathStorageError?>(nil)
            let task = Task {
                let error = try await failure { _ = try await scratch.read("file") }
                outcome.withLock { $0 = error }
            }
            try await Task.sleep(for: .milliseconds(200))
            task.cancel()
            #expect(try await eventually { outcome.withLock { $0 } == .cancelled })
            scratch.server.signalSessions(SIGCONT)
            #expect(try await scratch.names() == ["file"])
        }
    }

    /// A file being sent is complete or absent, and the temporary file is removed.
    @Test func anInterruptedUploadLeavesNothing() async throws {
        try await SFTPScratch.run(limits: Self.limits) { scratch in
            let large = [UInt8](repeating: 7, count: 48 << 20)
            let isUnderWay = Latch()
            let task = Task {
                _ = try await ItemContents.with(large) { contents async throws(RemoteStoreError) in
                    let told = ItemContents(file: contents.file, size: contents.size) { count in
                        if count > 1 << 20 { isUnderWay.open() }
                    }
                    do throws(PathStorageError) {
                        _ = try await scratch.storage.write(
                            scratch.path("large"), contents: told, attributes: PathAttributes(), guard: .absent)
                    } catch {
                        throw .itemUnavailable("\(error)")
                    }
                }
            }
            await Task.detached { isUnderWay.wait() }.value
            scratch.server.cut()
            await #expect(throws: RemoteStoreError.self) { try await task.value }
            #expect(try await scratch.names().isEmpty)
            #expect(try await eventually { try scratch.leftovers().isEmpty })
            try await scratch.write("large", large)
            #expect(try await scratch.names() == ["large"])
        }
    }

    /// No process of ssh is left, not even a zombie; and no descriptor.
    @Test func nothingIsLeftOfAClosedConnection() async throws {
        try await SFTPScratch.run { scratch in
            let process = scratch.storage.reconnector.process
            #expect(kill(process, 0) == 0)
            await scratch.storage.close()
            #expect(kill(process, 0) == -1 && errno == ESRCH)
            let error = try await failure { _ = try await scratch.names() }
            guard case .unreachable(let text) = error else { throw BrokenPromise("\(error)") }
            #expect(text.contains("the store is closed"))
        }
    }
}
