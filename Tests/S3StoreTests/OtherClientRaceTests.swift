import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import S3Store

/// Another client writes between two requests of one call.
@Suite struct OtherClientRaceTests {
    /// Runs `body`, and lets another client write `path`, or do something else, before the first request that `isIt`.
    private static func run(
        at path: String, copied: Int64 = 5 << 30, before isIt: @escaping @Sendable (HTTPMessage) -> Bool,
        _ deed: @escaping @Sendable (S3FaultedSession?, String) async throws -> Void = { session, path in
            try await session?.writeElsewhere("theirs", to: path)
        },
        _ body: (PathStore, S3FaultedSession) async throws -> Void
    ) async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        try await InterposedClient.run(
            server, bucket, copied: copied, before: isIt, { try await deed($0, path) }, body)
    }

    /// The server checks the version that was read: a check before the request is not enough.
    @Test func aReplacementOverwritesNoWriteByOthers() async throws {
        let isIt: @Sendable (HTTPMessage) -> Bool = { $0.words.first == "PUT" }
        try await Self.run(at: "file", before: isIt) { store, session in
            let file = try await RetryingStore(store).create("file", .file, in: .root, Array("first".utf8))
            let template = ItemTemplate(
                identifier: file.identifier, parent: .root, filename: file.filename, kind: .file)
            let error = try await session.armed {
                try await failure(of: store, template, file)
            }
            guard case .versionConflict = error else { throw BrokenPromise("\(String(describing: error))") }
            #expect(try await session.files() == ["file": Array("theirs".utf8)])
        }
    }

    private func failure(of store: PathStore, _ template: ItemTemplate, _ file: Item) async throws -> RemoteStoreError?
    {
        try await ItemContents.with(Array("ours".utf8)) { contents async throws(RemoteStoreError) in
            do throws(RemoteStoreError) {
                _ = try await store.modifyItem(
                    template, base: file.version, changedFields: .contents, contents: contents)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Another client's object of the same size, right after ours: Ceph's answer about the end of an upload in parts names no ETag.
    @Test func aWriteByOthersIsNotTakenForAMultipartUpload() async throws {
        let isEnded = Locked(false)
        let isIt: @Sendable (HTTPMessage) -> Bool = { request in
            if request.words.first == "POST", request.words[1].contains("/large?uploadId=") {
                isEnded.withLock { $0 = true }
            }
            return isEnded.withLock { $0 } && request.words.first == "HEAD"
        }
        let theirs = String(repeating: "t", count: 150_000)
        let writes: @Sendable (S3FaultedSession?, String) async throws -> Void = { session, path in
            try await session?.writeElsewhere(theirs, to: path)
        }
        try await Self.run(at: "large", before: isIt, writes) { store, session in
            let ours = [UInt8](repeating: 7, count: 150_000)
            let made = try await session.armed {
                try? await store.createOnce("large", ours)
            }
            #expect(made == nil)
            let found = try await store.enumerateItems(in: .root, from: nil).items
            #expect(found.count == 1 && found.first?.size == 150_000)
            #expect(try await session.files() == ["large": Array(theirs.utf8)])
        }
    }

    /// The same after a change of the mode, and after a move, which are copies.
    @Test(arguments: ["file", "moved"]) func aWriteByOthersIsNotTakenForACopy(_ path: String) async throws {
        let isCopied = Locked(false)
        let isIt: @Sendable (HTTPMessage) -> Bool = { request in
            if request["x-amz-copy-source"] != nil { isCopied.withLock { $0 = true } }
            return isCopied.withLock { $0 } && request.words.first == "HEAD" && request.words[1].hasSuffix("/\(path)")
        }
        let writes: @Sendable (S3FaultedSession?, String) async throws -> Void = { session, path in
            try await session?.writeElsewhere("other", to: path)
        }
        try await Self.run(at: path, before: isIt, writes) { store, session in
            let file = try await RetryingStore(store).create("file", .file, in: .root, Array("first".utf8))
            var template = ItemTemplate(
                identifier: file.identifier, parent: .root, filename: FileName(path), kind: .file)
            template.metadata.mode = 0o600
            let wanted = template
            let error = try await session.armed {
                do throws(RemoteStoreError) {
                    _ = try await store.modifyItem(
                        wanted, base: file.version, changedFields: path == "file" ? .mode : .filename, contents: nil)
                    return RemoteStoreError?.none
                } catch {
                    return error
                }
            }
            #expect(error == .serverUnreachable)
            let files = try await session.files()
            #expect(files[path] == Array("other".utf8))
            #expect(path == "file" || files["file"] == Array("first".utf8))
            // What the other client wrote is a change.
            let items = try await store.enumerateItems(in: .root, from: nil).items
            let theirs = items.first { $0.filename == FileName(path) }
            #expect(theirs != nil && theirs?.version.content != file.version.content)
        }
    }

    /// Some servers don't check that the source of a copy is still the object that was read.
    @Test(arguments: ["theirs", "first"]) func aMoveDuplicatesNoWriteByOthers(_ text: String) async throws {
        let isIt: @Sendable (HTTPMessage) -> Bool = { $0.words.first == "PUT" && $0.words[1].hasSuffix("/moved") }
        let writes: @Sendable (S3FaultedSession?, String) async throws -> Void = { session, path in
            try await session?.writeElsewhere(text + "!", to: path)
        }
        try await Self.run(at: "file", before: isIt, writes) { store, session in
            let file = try await RetryingStore(store).create("file", .file, in: .root, Array("first?".utf8))
            _ = try await session.armed { try await Self.move(file, to: "moved", store) }
            #expect(try await session.files().map(\.value) == [Array((text + "!").utf8)])
        }
    }

    @Test func aFolderMoveDuplicatesNoWriteByOthers() async throws {
        let isIt: @Sendable (HTTPMessage) -> Bool = { $0.words.first == "PUT" && $0.words[1].hasSuffix("/moved/file") }
        try await Self.run(at: "folder/file", before: isIt) { store, session in
            let retrying = RetryingStore(store)
            let folder = try await retrying.create("folder", .folder, in: .root, nil)
            _ = try await retrying.create("file", .file, in: folder.identifier, Array("first".utf8))
            _ = try await retrying.create("other", .file, in: folder.identifier, Array("other".utf8))
            _ = try await session.armed { try await Self.move(folder, to: "moved", store) }
            #expect(
                try await session.files() == ["folder/file": Array("theirs".utf8), "moved/other": Array("other".utf8)])
        }
    }

    /// Another client removes or moves it during the copy.
    @Test func aMoveRestoresNoRemovedFile() async throws {
        let isCopied = Locked(false)
        let isIt: @Sendable (HTTPMessage) -> Bool = { request in
            if request.words.first == "PUT", request.words[1].hasSuffix("/moved") { isCopied.withLock { $0 = true } }
            return isCopied.withLock { $0 } && request.words.first == "HEAD"
        }
        let removes: @Sendable (S3FaultedSession?, String) async throws -> Void = { session, path in
            try await session?.removeElsewhere(path)
        }
        try await Self.run(at: "file", before: isIt, removes) { store, session in
            let file = try await RetryingStore(store).create("file", .file, in: .root, Array("first".utf8))
            let error = try await session.armed { try await Self.move(file, to: "moved", store) }
            #expect(error == .noSuchItem(file.identifier))
            #expect(try await session.files() == [:])
        }
    }

    /// Two machines move one file to one name: the copy of one is not an interrupted move of the other.
    @Test func concurrentMovesLoseNothing() async throws {
        let (isCopied, error) = (Locked(false), Locked<PathStorageError?>(nil))
        let isIt: @Sendable (HTTPMessage) -> Bool = { request in
            if request.words.first == "PUT", request.words[1].hasSuffix("/moved") { isCopied.withLock { $0 = true } }
            return isCopied.withLock { $0 } && request.words.first == "HEAD"
        }
        let moves = Self.movingElsewhere { answer in error.withLock { $0 = answer } }
        try await Self.run(at: "file", before: isIt, moves) { store, session in
            let retrying = RetryingStore(store)
            let file = try await retrying.create("file", .file, in: .root, Array("first".utf8))
            // A busy server may not answer in time before anything is moved.
            _ = try await session.armed {
                try await retrying.modify(file, .filename) { $0.filename = FileName("moved") }
            }
            #expect(try await session.files() == ["moved": Array("first".utf8)])
            guard case .taken = error.withLock({ $0 }) else { throw BrokenPromise("\(error.withLock { $0 } as Any)") }
        }
    }

    /// The same below a folder, for an object whose copy has another ETag.
    @Test func concurrentFolderMovesLoseNothing() async throws {
        let isCopied = Locked(false)
        let isIt: @Sendable (HTTPMessage) -> Bool = { request in
            guard isCopied.withLock({ $0 }) else {
                let isEnd = request.words.first == "POST" && request.words[1].contains("/moved/file?uploadId=")
                isCopied.withLock { $0 = isEnd }
                return false
            }
            return request.words[1].hasSuffix("/folder/file")
        }
        let moves = Self.movingElsewhere { _ in }
        let content = [UInt8](repeating: 7, count: 150_000)
        try await Self.run(at: "folder", copied: 100_000, before: isIt, moves) { store, session in
            let retrying = RetryingStore(store)
            let folder = try await retrying.create("folder", .folder, in: .root, nil)
            _ = try await retrying.create("file", .file, in: folder.identifier, content)
            _ = try await session.armed { try await Self.move(folder, to: "moved", store) }
            #expect(try await session.files() == ["moved/file": content])
        }
    }

    /// Moves it to the same name as another machine.
    private static func movingElsewhere(
        _ report: @escaping @Sendable (PathStorageError?) -> Void
    ) -> @Sendable (S3FaultedSession?, String) async throws -> Void {
        { session, path in
            guard let session else { return }
            let storage = try await session.openElsewhere()
            defer { storage.close() }
            let place = StoragePath([FileName(path)])
            let version = try await storage.entry(at: place)?.version
            do throws(PathStorageError) {
                _ = try await storage.move(place, to: StoragePath([FileName("moved")]), version: version)
                report(nil)
            } catch {
                report(error)
            }
        }
    }

    private static func move(_ item: Item, to name: String, _ store: PathStore) async throws -> RemoteStoreError? {
        let template = ItemTemplate(
            identifier: item.identifier, parent: .root, filename: FileName(name), kind: item.kind)
        do throws(RemoteStoreError) {
            _ = try await store.modifyItem(template, base: item.version, changedFields: .filename, contents: nil)
            return nil
        } catch {
            return error
        }
    }

    /// Objects that another client wrote into the folder after the copy are not removed with it.
    @Test func aFolderMoveRemovesNoWriteByOthers() async throws {
        let isCopied = Locked(false)
        let isIt: @Sendable (HTTPMessage) -> Bool = { request in
            let words = request.words
            if words.first == "PUT", words.dropFirst().first?.hasSuffix("/moved/file") == true {
                isCopied.withLock { $0 = true }
                return false
            }
            // The listing of the target, which determines what is removed at the source.
            return isCopied.withLock { $0 } && words.first == "GET" && words.contains { $0.hasSuffix("moved%2F") }
        }
        try await Self.run(at: "folder/file", before: isIt) { store, session in
            let retrying = RetryingStore(store)
            let folder = try await retrying.create("folder", .folder, in: .root, nil)
            _ = try await retrying.create("file", .file, in: folder.identifier, Array("first".utf8))
            _ = try await session.armed {
                try await retrying.modify(folder, .filename) { $0.filename = FileName("moved") }
            }
            #expect(
                try await session.files() == [
                    "folder/file": Array("theirs".utf8), "moved/file": Array("first".utf8),
                ])
        }
    }
}
