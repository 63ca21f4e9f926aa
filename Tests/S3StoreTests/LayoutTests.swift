import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import HTTPClient
@testable import S3Store

/// The layout of a bucket is compatible with other tools.
@Suite struct LayoutTests {
    /// A content that another client wrote right afterwards must not count as the sent one, even with the same size.
    @Test(
        arguments: [
            ("a", 4, true), ("b", 4, false), ("a", 5, false), (nil, 4, true), (nil, 5, false),
        ] as [(String?, Int64, Bool)])
    func onlySentFieldsAreWritten(_ tag: String?, _ size: Int64, _ isWritten: Bool) throws {
        var head = HTTPHead(status: 200)
        head.headers = ["etag": "\"a\"", "content-length": "4"]
        let object = try #require(StoredObject(head))
        #expect(object.isWritten(tag: tag, size: size) == isWritten)
    }

    @Test func filesAreObjectsWithTheMetadataOfOtherTools() async throws {
        try await S3Scratch.run("some/folder") { scratch in
            let date = Timestamp(seconds: 1_764_000_000, nanoseconds: 5)
            try await scratch.write(
                "a b+ü", "text", PathAttributes(mode: 0o640, modificationDate: date, mark: "a mark"))
            let object = try #require(try await scratch.object("some/folder/a b+ü"))
            #expect(object.metadata["mode"] == "0100640")
            #expect(object.metadata["mtime"] == "1764000000.000000005")
            #expect(object.metadata["uid"] != nil && object.metadata["gid"] != nil)
            #expect(object.size == 4)
            let entry = try await scratch.entry("a b+ü")
            #expect(entry?.attributes == PathAttributes(mode: 0o640, modificationDate: date, mark: "a mark"))
            #expect(try await scratch.list()["a b+ü"] == entry)
        }
    }

    @Test func attributesOfOtherProgramsAreReadAndKept() async throws {
        try await S3Scratch.run { scratch in
            // The form of s3fs, with foreign metadata.
            try await scratch.put(
                "file", "text",
                [
                    ("x-amz-meta-mode", "33188"), ("x-amz-meta-mtime", "1234567890"), ("x-amz-meta-uid", "1234"),
                    ("x-amz-meta-color", "red"), ("content-type", "text/plain"), ("cache-control", "no-cache"),
                ])
            let entry = try #require(try await scratch.entry("file"))
            #expect(entry.attributes.mode == 0o644)
            #expect(entry.attributes.modificationDate == Timestamp(seconds: 1_234_567_890, nanoseconds: 0))
            func expectKept(_ deed: String, _ key: String) async throws {
                let object = try #require(try await scratch.object(key))
                #expect(object.metadata["color"] == "red" && object.metadata["uid"] == "1234", "\(deed)")
                #expect(object.headers["content-type"] == "text/plain", "\(deed)")
                #expect(object.headers["cache-control"] == "no-cache", "\(deed)")
            }
            _ = try await scratch.storage.set(PathAttributes(mode: 0o600), of: scratch.path("file"))
            try await expectKept("a mode", "file")
            let version = try #require(entry.version)
            let replaced = try await scratch.write("file", "other", guard: .version(version))
            #expect(replaced.attributes.mode == 0o600)
            try await expectKept("a replacement", "file")
            _ = try await scratch.storage.move(
                scratch.path("file"), to: scratch.path("moved"), version: replaced.version)
            try await expectKept("a move", "moved")
        }
    }

    @Test func anUnrecordedDateSurvivesCopies() async throws {
        try await S3Scratch.run { scratch in
            try await scratch.put("file", "text")
            let date = try #require(try await scratch.entry("file")?.attributes.modificationDate)
            let version = try await scratch.entry("file")?.version
            try await Task.sleep(for: .milliseconds(1_100))
            let moved = try await scratch.storage.move(
                scratch.path("file"), to: scratch.path("moved"), version: version)
            #expect(moved.attributes.modificationDate == date)
            #expect(moved.version == version)
        }
    }

    @Test func symlinksAreStoredLikeS3fsAndRclone() async throws {
        try await S3Scratch.run { scratch in
            let target = Array("../some where\n".utf8)
            let made = try await scratch.storage.make(
                scratch.path("link"), kind: .symlink(target), attributes: PathAttributes())
            #expect(made.kind == .symlink(target) && made.version == nil)
            #expect(try await scratch.object("link")?.metadata["mode"] == "0120777")
            #expect(try await scratch.other.content(at: "link") == target)
            // The form of s3fs.
            try await scratch.put("theirs", "target", [("x-amz-meta-mode", "41471")])
            let listed = try await scratch.list()
            #expect(listed["link"]?.kind == .symlink(target))
            #expect(listed["theirs"]?.kind == .symlink(Array("target".utf8)))
            let error = try await failure { _ = try await scratch.read("link", version: "x") }
            #expect(error == .changed(try await scratch.entry("link")))
            try await scratch.storage.remove(scratch.path("link"), version: nil)
            #expect(try await scratch.entry("link") == nil)
        }
    }

    @Test func foldersExistByTheirEntries() async throws {
        try await S3Scratch.run { scratch in
            try await scratch.put("folder/below/file", "text")
            #expect(try await scratch.entry("folder")?.kind == .folder)
            #expect(try await scratch.list("folder").keys.sorted() == ["below"])
            let version = try await scratch.entry("folder/below/file")?.version
            // It stays when its contents are removed.
            try await scratch.storage.remove(scratch.path("folder/below/file"), version: version)
            #expect(try await scratch.entry("folder/below")?.kind == .folder)
            #expect(try await scratch.other.keys() == ["folder/below/"])
            try await scratch.storage.remove(scratch.path("folder/below"), version: nil)
            #expect(try await scratch.other.keys() == ["folder/"])
            #expect(
                try await failure { _ = try await scratch.storage.list(scratch.path("none"), isDeep: false, from: nil) }
                    == .notFound)
            try await scratch.folder("other", mode: 0o750)
            #expect(try await scratch.entry("other")?.attributes.mode == 0o750)
            _ = try await scratch.storage.set(PathAttributes(mode: 0o700), of: scratch.path("other"))
            #expect(try await scratch.entry("other")?.attributes.mode == 0o700)
        }
    }

    @Test func aFileHidesAFolderOfTheSameName() async throws {
        try await S3Scratch.run { scratch in
            try await scratch.put("name/file", "below")
            try await scratch.put("name", "text")
            let entry = try #require(try await scratch.entry("name"))
            #expect(entry.kind == .file)
            #expect(try await scratch.list()["name"] == entry)
            try await scratch.storage.remove(scratch.path("name"), version: entry.version)
            #expect(try await scratch.entry("name/file")?.kind == .file)
            // Nor is a file created at a folder's path, or below a file.
            #expect(
                try await failure { try await scratch.write("name", "x") } == .taken(try await scratch.entry("name")))
            #expect(try await failure { try await scratch.write("none/file", "x") } == .notFound)
        }
    }

    @Test func invalidNamesAreNotShown() async throws {
        try await S3Scratch.run { scratch in
            let long = String(repeating: "x", count: 256)
            for key in [
                "a//b", "./x", "../x", "..", ".", "/x", "\(long)", "bell\u{7}", ".replica/theirs", "good", "folder/",
            ] {
                try await scratch.put(key, "text")
            }
            #expect(try await scratch.list().keys.sorted() == ["a", "folder", "good"])
            #expect(try await scratch.list("a").isEmpty)
            #expect(try await scratch.list("folder").isEmpty)
            for name in [".replica", "bell\u{7}"] {
                guard case .refused = try await failure({ try await scratch.write(name, "x") }) else {
                    Issue.record("\(name) was taken")
                    continue
                }
                #expect(try await scratch.entry(name) == nil)
            }
            let deep = (1...5).map { _ in long.dropLast(1) }.joined(separator: "/")
            guard case .refused = try await failure({ try await scratch.write(deep, "x") }) else {
                Issue.record("a path of \(deep.utf8.count) bytes was taken")
                return
            }
            // Successful calls leave no internal objects.
            #expect(try await scratch.other.keys().filter { $0.hasPrefix(".replica/") } == [".replica/theirs"])
        }
    }

    @Test func largeFoldersAreListedCompletely() async throws {
        try await S3Scratch.run { scratch in
            let names = (0..<1_100).map { "file \($0)" }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for part in 0..<8 {
                    group.addTask {
                        for name in names.enumerated() where name.offset % 8 == part {
                            try await scratch.put(name.element)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await scratch.list().keys.sorted() == names.sorted())
        }
    }
}
