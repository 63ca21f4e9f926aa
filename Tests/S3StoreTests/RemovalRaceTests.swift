import HTTPClient
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import S3Store

/// Another client writes an object right before it is removed.
@Suite struct RemovalRaceTests {
    private static let content = Array("first".utf8)

    /// A session in a bucket with versions, which the server does not test at a removal.
    private static func run(
        before isIt: @escaping @Sendable (HTTPMessage) -> Bool, _ path: String, _ text: String = "theirs",
        copied: Int64 = 5 << 30, _ body: (PathStore, S3FaultedSession) async throws -> Void
    ) async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let connection = try server.connection(bucket)
        defer { connection.close() }
        try await setVersioning("Enabled", connection)
        try await InterposedClient.run(
            server, bucket, copied: copied, before: isIt, { try await $0?.writeElsewhere(text, to: path) }, body)
    }

    private static func setVersioning(_ status: String, _ connection: S3Connection) async throws {
        var request = S3Request("PUT")
        request.query = [("versioning", "")]
        request.body = .bytes(
            Array("<VersioningConfiguration><Status>\(status)</Status></VersioningConfiguration>".utf8))
        _ = try await connection.send(request)
    }

    /// Where versioning is suspended, a removal replaces the version without an ID: what is below it was not hidden by
    /// this removal, and does not come back.
    @Test func aRemovalRestoresNoOldVersion() async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let connection = try server.connection(bucket)
        defer { connection.close() }
        try await Self.setVersioning("Enabled", connection)
        let session = try S3FaultedSession(server, bucket) { (_, _) in nil }
        try await session.run { store in
            try await session.writeElsewhere("old", to: "file")
            try await Self.setVersioning("Suspended", connection)
            try await session.writeElsewhere("newer", to: "file")
            let page = try await store.enumerateItems(in: .root, from: nil)
            let file = try #require(page.items.first { $0.filename == FileName("file") })
            try await store.deleteItem(file.identifier, base: file.version)
            #expect(try await session.files() == [:])
        }
    }

    @Test func aRemovalHidesOnlyTheVersionSeen() async throws {
        let isIt: @Sendable (HTTPMessage) -> Bool = { $0.words.first == "DELETE" && $0.words[1].hasSuffix("/file") }
        try await Self.run(before: isIt, "file") { store, session in
            let file = try await RetryingStore(store).create("file", .file, in: .root, Self.content)
            let error = try await session.armed { () -> RemoteStoreError? in
                do throws(RemoteStoreError) {
                    try await store.deleteItem(file.identifier, base: file.version)
                    return nil
                } catch {
                    return error
                }
            }
            guard case .deletionRejected = error else { throw BrokenPromise("\(String(describing: error))") }
            #expect(try await session.files() == ["file": Array("theirs".utf8)])
            // What is removed in the state that was seen is gone.
            let now = try await store.item(file.identifier)
            try await store.deleteItem(file.identifier, base: now.version)
            #expect(try await session.files() == [:])
        }
    }

    @Test func aFolderMoveHidesOnlyCopiedVersions() async throws {
        let isIt: @Sendable (HTTPMessage) -> Bool = {
            $0.words.first == "DELETE" && $0.words[1].hasSuffix("/folder/file")
        }
        try await Self.run(before: isIt, "folder/file") { store, session in
            let retrying = RetryingStore(store)
            let folder = try await retrying.create("folder", .folder, in: .root, nil)
            _ = try await retrying.create("file", .file, in: folder.identifier, Self.content)
            _ = try await session.armed {
                try await retrying.modify(folder, .filename) { $0.filename = FileName("moved") }
            }
            #expect(
                try await session.files() == ["folder/file": Array("theirs".utf8), "moved/file": Self.content])
        }
    }

    /// A large object is copied in parts: those of two objects would be a file that nobody has written.
    @Test func aMultipartCopyReadsOneObject() async throws {
        let (ours, theirs) = ([UInt8](repeating: 7, count: 150_000), String(repeating: "x", count: 150_001))
        let tags = Locked<[String?]>([])
        let isIt: @Sendable (HTTPMessage) -> Bool = { request in
            guard request["x-amz-copy-source-range"] != nil else { return false }
            tags.withLock { $0.append(request["x-amz-copy-source-if-match"]) }
            return request.words[1].contains("partNumber=2")
        }
        try await Self.run(before: isIt, "file", theirs, copied: 100_000) { store, session in
            let file = try await RetryingStore(store).create("file", .file, in: .root, ours)
            let template = ItemTemplate(
                identifier: file.identifier, parent: .root, filename: FileName("moved"), kind: .file)
            _ = try await session.armed { () -> RemoteStoreError? in
                do throws(RemoteStoreError) {
                    _ = try await store.modifyItem(
                        template, base: file.version, changedFields: .filename, contents: nil)
                    return nil
                } catch {
                    return error
                }
            }
            for (_, content) in try await session.files() {
                #expect(content == ours || content == Array(theirs.utf8))
            }
            #expect(try await session.files().values.contains(Array(theirs.utf8)))
        }
        #expect(tags.withLock { $0.count >= 2 && !$0.contains(nil) })
    }

    /// Where the server tests it, every removal and every copy says of what.
    @Test func removalsAreConditional() async throws {
        let server = try S3Server.shared
        let (removals, copies) = (Locked<[(String, String?)]>([]), Locked<[String?]>([]))
        let bucket = try await server.bucket()
        let session = try S3FaultedSession(server, bucket, removesConditionally: true) { (_, request) in
            if request.words.first == "DELETE", !request.words[1].contains(".replica") {
                removals.withLock { $0.append((request.words[1], request["if-match"])) }
            }
            if request["x-amz-copy-source"] != nil {
                copies.withLock { $0.append(request["x-amz-copy-source-if-match"]) }
            }
            return nil
        }
        try await session.run { store in
            let retrying = RetryingStore(store)
            let folder = try await retrying.create("folder", .folder, in: .root, nil)
            let file = try await retrying.create("file", .file, in: .root, Self.content)
            _ = try await retrying.create("below", .file, in: folder.identifier, Self.content)
            try await session.armed {
                _ = try await retrying.modify(folder, .filename) { $0.filename = FileName("moved") }
                try await store.deleteItem(file.identifier, base: file.version)
            }
        }
        let all = removals.withLock { $0 }.filter { !$0.0.hasSuffix("/") }
        // The copies are those of the folder and of what is in it.
        let tags = copies.withLock { $0 }
        #expect(!tags.isEmpty && tags.allSatisfy { $0?.count ?? 0 > 30 }, "\(tags)")
        #expect(all.count == 2 && all.allSatisfy { $0.1 != nil }, "\(all)")
    }
}
