import Glibc
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import DirectoryStore

/// Files with holes go into the store and out of it with them.
@Suite struct SparseTests {
    private static let size: Int64 = 8 << 30
    private static let data: Range<Int64> = 5 << 30..<5 << 30 + 1 << 20

    /// Notes what comes, and keeps nothing.
    private final class Sink: ContentSink {
        let bytes = Locked(0)
        let zeros = Locked<[Range<Int64>]>([])

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
            self.bytes.withLock { $0 += bytes.count }
        }

        func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
            zeros.withLock { $0.append(range) }
        }
    }

    private func make(
        _ store: DirectoryStore, _ scratch: Scratch, options: CreateOptions = [], at place: Int64 = data.lowerBound
    ) async throws -> Item {
        let file = open("\(scratch.path)/source", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        try #require(ftruncate(file, Int(Self.size)) == 0)
        let bytes = [UInt8](repeating: 7, count: Self.data.count)
        try #require(pwrite(file, bytes, bytes.count, Int(place)) == bytes.count)
        let contents = ItemContents(file: FileDescriptor(rawValue: file), size: Self.size)
        let template = ItemTemplate(
            identifier: ItemIdentifier("template"), parent: .root, filename: FileName("file"), kind: .file)
        let answer = try await store.createItem(
            basedOn: template, fields: [.parent, .filename, .contents], contents: contents, options: options)
        return try #require(answer.item)
    }

    @Test func anUploadKeepsHoles() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        #expect(try await make(store, scratch).size == Self.size)
        var status = stat()
        #expect(stat("\(scratch.root)/file", &status) == 0)
        #expect(status.st_size == Int(Self.size))
        #expect(status.st_blocks * 512 < 4 << 20)
    }

    /// Where both have holes nothing is read; data against a hole is another content.
    @Test func equalSparseFilesAreRecognized() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        let first = try await make(store, scratch)
        #expect(try await make(store, scratch, options: .mayAlreadyExist).identifier == first.identifier)
        for place in [Self.data.lowerBound - 1, 0, Self.size - 1 << 20] {
            await expectFailure("filenameCollision") {
                _ = try await make(store, scratch, options: .mayAlreadyExist, at: place)
            }
        }
    }

    @Test func aFetchReportsHoles() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        let item = try await make(store, scratch)
        let sink = Sink()
        _ = try await store.fetchContents(of: item.identifier, version: nil, range: nil, into: sink)
        #expect(sink.bytes.withLock { $0 } == Self.data.count)
        #expect(sink.zeros.withLock { $0 } == [0..<Self.data.lowerBound, Self.data.upperBound..<Self.size])
        let part = Sink()
        let range = Self.data.lowerBound - 10..<Self.data.lowerBound + 10
        _ = try await store.fetchContents(of: item.identifier, version: nil, range: range, into: part)
        #expect(part.bytes.withLock { $0 } == 10)
        #expect(part.zeros.withLock { $0 } == [range.lowerBound..<Self.data.lowerBound])
    }

    /// Contents that are shorter than they say are no file with a hole at its end.
    @Test func contentsThatEndEarlyAreRejected() async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        let file = open("\(scratch.path)/source", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        try #require(ftruncate(file, 1 << 20) == 0)
        let contents = ItemContents(file: FileDescriptor(rawValue: file), size: 2 << 20)
        let template = ItemTemplate(
            identifier: ItemIdentifier("template"), parent: .root, filename: FileName("file"), kind: .file)
        await expectFailure("cannotSynchronize") {
            _ = try await store.createItem(
                basedOn: template, fields: [.parent, .filename, .contents], contents: contents, options: [])
        }
    }
}
