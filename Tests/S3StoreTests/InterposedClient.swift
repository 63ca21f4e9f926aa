import PathStore
import ReplicaTestSupport
import Testing
import Threads

@testable import S3Store

/// Another client of a bucket, which acts once, right before a request of a session.
enum InterposedClient {
    /// - Parameters:
    ///   - isIt: Whether it acts before this request; only the first counts, and one has to come.
    ///   - deed: What it does; the request waits for it.
    static func run(
        _ server: S3Server, _ bucket: String, copied: Int64 = 5 << 30,
        before isIt: @escaping @Sendable (HTTPMessage) -> Bool,
        _ deed: @escaping @Sendable (S3FaultedSession?) async throws -> Void,
        _ body: (PathStore, S3FaultedSession) async throws -> Void
    ) async throws {
        let (writer, isOver) = (Locked<S3FaultedSession?>(nil), Locked(false))
        let session = try S3FaultedSession(server, bucket, copied: copied) { (_, request) in
            let isNow =
                isIt(request)
                && isOver.withLock { isOver in
                    defer { isOver = true }
                    return !isOver
                }
            guard isNow else { return nil }
            let (session, isDone) = (writer.withLock { $0 }, Latch())
            Task {
                do { try await deed(session) } catch { Issue.record("\(error)") }
                isDone.open()
            }
            isDone.wait()
            return nil
        }
        writer.withLock { $0 = session }
        try await session.run { try await body($0, session) }
        writer.withLock { $0 = nil }
        #expect(isOver.withLock { $0 })
    }
}
