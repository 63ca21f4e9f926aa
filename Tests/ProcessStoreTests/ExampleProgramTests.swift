import Foundation
import Glibc
import Logging
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ProcessStore

/// The example in Python keeps the promises of a path storage.
@Suite struct ExampleProgramTests {
    /// A storage of the example in a temporary folder.
    private struct Ground {
        private let home: TemporaryFolder
        var folder: String { home.path.string }
        var root: String { folder + "/root" }
        let storage: ProcessStorage

        static let repository = FilePath(#filePath).removingLastComponent().removingLastComponent()
            .removingLastComponent()

        /// - Parameter text: The program; nil for the example.
        init(_ text: String? = nil) async throws {
            home = try TemporaryFolder()
            let folder = home.path.string
            try home.makeFolder("root")
            var program = Self.repository.appending("examples/replica-store-example")
            if let text {
                program = FilePath(folder).appending("replica-store-other")
                let draft = URL(filePath: folder + "/draft")
                try Data(text.utf8).write(to: draft)
                // By another process: a program that this one has open for writing can't be run by a child that was forked
                // meanwhile (ETXTBSY).
                let arguments = ["-m", "755", draft.path, program.string]
                let install = try Process.run(URL(filePath: "/usr/bin/install"), arguments: arguments)
                install.waitUntilExit()
                guard install.terminationStatus == 0 else { throw Errno.ioError }
            }
            let opened = try await OpenedStore.open(
                StoreProgram(path: program), url: "example://\(folder)/root", folder: FilePath(folder),
                log: Logger(label: "example"))
            guard case .path(let storage) = opened else { throw BrokenPromise("another level") }
            self.storage = storage
        }

        func write(
            _ path: StoragePath, _ text: String, _ attributes: PathAttributes = PathAttributes(),
            guard: WriteGuard = .absent
        ) async throws -> PathEntry {
            let outcome = try await ItemContents.with(Array(text.utf8)) { contents async throws(RemoteStoreError) in
                do throws(PathStorageError) {
                    return Result<PathEntry, PathStorageError>.success(
                        try await storage.write(path, contents: contents, attributes: attributes, guard: `guard`))
                } catch {
                    return .failure(error)
                }
            }
            return try outcome.get()
        }

        func names(_ folder: StoragePath) async throws -> [FileName] {
            var (page, found) = (EnumerationPage?.none, [FileName]())
            repeat {
                let answer = try await storage.list(folder, isDeep: false, from: page)
                found += answer.entries.compactMap(\.path.name)
                page = answer.next
            } while page != nil
            return found
        }
    }

    /// The program that docs/WRITING_A_STORE.md begins with.
    @Test func theProgramInTheGuideWorks() async throws {
        let guide = try String(
            contentsOfFile: Ground.repository.appending("docs/WRITING_A_STORE.md").string, encoding: .utf8)
        let program = try #require(guide.firstMatch(of: #/(?s)```python\n(.*?)```/#)).1
        try await run(String(program)) { ground in
            #expect(try await Set(ground.names(.root)) == [FileName("hello.txt"), FileName("notes")])
            #expect(try await ground.names(path("notes")) == [FileName("today.txt")])
            let sink = ContentBuffer()
            let read = try await ground.storage.read(path("hello.txt"), version: "1", range: nil, into: sink)
            #expect(read.size == 6 && sink.bytes == Array("hello\n".utf8))
            #expect(try await ground.storage.entry(at: path("other")) == nil)
            await #expect(throws: PathStorageError.self) { _ = try await ground.write(path("hello.txt"), "text") }
        }
    }

    private func run(_ program: String? = nil, _ body: (Ground) async throws -> Void) async throws {
        let ground = try await Ground(program)
        try await body(ground)
        await ground.storage.close()
    }

    private func path(_ text: String) -> StoragePath {
        StoragePath(text.split(separator: "/").map { FileName(String($0)) })
    }

    private func failure(_ body: () async throws -> Void) async throws -> PathStorageError {
        do { try await body() } catch let error as PathStorageError { return error }
        throw BrokenPromise("it should have failed")
    }

    @Test func writtenFilesAreReadBack() async throws {
        try await run { ground in
            let date = Timestamp(seconds: 1_700_000_000, nanoseconds: 123_456_789)
            let attributes = PathAttributes(mode: 0o640, modificationDate: date)
            let entry = try await ground.write(path("file"), "hello", attributes)
            #expect(entry.attributes == attributes && entry.size == 5 && entry.kind == .file)
            #expect(try await ground.storage.entry(at: path("file")) == entry)
            #expect(try String(contentsOfFile: ground.root + "/file", encoding: .utf8) == "hello")
            let sink = ContentBuffer()
            let read = try await ground.storage.read(path("file"), version: entry.version, range: nil, into: sink)
            #expect(read == entry && sink.bytes == Array("hello".utf8))
            let part = ContentBuffer()
            _ = try await ground.storage.read(path("file"), version: nil, range: 1..<3, into: part)
            #expect(Array(part.bytes.dropFirst()) == Array("el".utf8))
            try await ground.storage.makeDurable()
        }
    }

    @Test func theDisksSpaceIsReported() async throws {
        try await run { ground in
            var status = statvfs()
            #expect(statvfs(ground.root, &status) == 0)
            let usage = try #require(try await ground.storage.usage())
            #expect(usage.total == Int64(status.f_blocks) * Int64(status.f_frsize) && usage.free < usage.total)
        }
    }

    @Test func nothingIsOverwrittenWithoutAPrecondition() async throws {
        try await run { ground in
            let first = try await ground.write(path("file"), "first")
            #expect(try await failure { _ = try await ground.write(path("file"), "other") } == .taken(nil))
            let second = try await ground.write(path("file"), "second", guard: .version(first.version ?? ""))
            #expect(second.version != first.version)
            let stale = WriteGuard.version(first.version ?? "")
            #expect(
                try await failure { _ = try await ground.write(path("file"), "third", guard: stale) }
                    == .changed(second))
            #expect(try await failure { _ = try await ground.write(path("none"), "third", guard: stale) } == .notFound)
            #expect(try await failure { _ = try await ground.write(path("no/file"), "third") } == .notFound)
            #expect(
                try await failure { try await ground.storage.remove(path("file"), version: first.version) }
                    == .changed(second))
            let stored = try String(contentsOfFile: ground.root + "/file", encoding: .utf8)
            #expect(stored == "second")
            #expect(try FileManager.default.contentsOfDirectory(atPath: ground.root + "/.replica-store-example") == [])
        }
    }

    @Test func foldersAndLinksAreKept() async throws {
        try await run { ground in
            let storage = ground.storage
            _ = try await storage.make(path("a"), kind: .folder, attributes: PathAttributes(mode: 0o700))
            let link = try await storage.make(
                path("a/link"), kind: .symlink(Array("../no where".utf8)), attributes: PathAttributes())
            #expect(link.kind == .symlink(Array("../no where".utf8)))
            #expect(
                try await failure {
                    _ = try await storage.make(path("a"), kind: .folder, attributes: PathAttributes())
                } == .taken(nil))
            let bytes = StoragePath([FileName("a"), FileName(bytes: [0x66, 0xFF, 0x0A, 0x66])])
            _ = try await ground.write(bytes, "strange")
            #expect(try await Set(ground.names(path("a"))) == [FileName("link"), bytes.names[1]])
            #expect(try await ground.names(.root) == [FileName("a")])
            #expect(try await failure { try await storage.remove(path("a"), version: nil) } == .notEmpty)
            try await storage.remove(bytes, version: nil)
            try await storage.remove(path("a/link"), version: nil)
            try await storage.remove(path("a"), version: nil)
            try await storage.remove(path("a"), version: nil)
            #expect(try await storage.entry(at: path("a")) == nil)
            #expect(try await failure { _ = try await storage.list(path("a"), isDeep: false, from: nil) } == .notFound)
        }
    }

    @Test func movesKeepAllEntriesAndReplaceNothing() async throws {
        try await run { ground in
            let storage = ground.storage
            _ = try await storage.make(path("a"), kind: .folder, attributes: PathAttributes())
            let file = try await ground.write(path("a/file"), "text")
            let moved = try await storage.move(path("a"), to: path("b"), version: nil)
            #expect(moved.path == path("b") && moved.kind == .folder)
            #expect(try await storage.entry(at: path("b/file"))?.version == file.version)
            _ = try await ground.write(path("other"), "other")
            let error = try await failure {
                _ = try await storage.move(path("b/file"), to: path("other"), version: file.version)
            }
            #expect(error == .taken(nil))
            #expect(
                try await failure { _ = try await storage.move(path("x"), to: path("y"), version: nil) } == .notFound)
            let dated = try await storage.set(
                PathAttributes(modificationDate: Timestamp(seconds: -5, nanoseconds: 7)), of: path("b/file"))
            #expect(dated.attributes.modificationDate == Timestamp(seconds: -5, nanoseconds: 7))
        }
    }

    @Test func longListingsArePaged() async throws {
        try await run { ground in
            for number in 0..<2_500 {
                #expect(FileManager.default.createFile(atPath: "\(ground.root)/file \(number)", contents: nil))
            }
            let names = try await ground.names(.root)
            #expect(names.count == 2_500 && Set(names).count == 2_500)
        }
    }

    /// A disk that is not mounted has no files, and nothing is deleted for that.
    @Test func aMissingRootProvesNothing() async throws {
        try await run { ground in
            _ = try await ground.write(path("file"), "text")
            try FileManager.default.moveItem(atPath: ground.root, toPath: ground.folder + "/away")
            guard case .unreachable = try await failure({ _ = try await ground.storage.entry(at: path("file")) }) else {
                Issue.record("a file is gone with its disk")
                return
            }
            try FileManager.default.createDirectory(atPath: ground.root, withIntermediateDirectories: false)
            guard case .unreachable = try await failure({ _ = try await ground.storage.entry(at: path("file")) }) else {
                Issue.record("a file is gone with its disk")
                return
            }
        }
    }

    @Test func largeFilesAreTransferredCompletely() async throws {
        try await run { ground in
            let text = String(repeating: "0123456789abcdef", count: 300_000)
            let entry = try await ground.write(path("large"), text)
            let sink = ContentBuffer()
            _ = try await ground.storage.read(path("large"), version: entry.version, range: nil, into: sink)
            #expect(sink.bytes == Array(text.utf8))
        }
    }
}
