import HTTPClient
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import S3Store

/// Objects whose keys are no paths: they are counted, and no call destroys them.
@Suite struct LeftOutKeyTests {
    /// What a listing of a folder leaves out.
    private func leftOut(_ scratch: S3Scratch, _ folder: String = "") async throws -> LeftOutNames {
        var (found, page) = (LeftOutNames(), EnumerationPage?.none)
        repeat {
            let answer = try await scratch.storage.list(scratch.path(folder), isDeep: false, from: page)
            found.add(answer.leftOut)
            page = answer.next
        } while page != nil
        return found
    }

    private static let long = String(repeating: "x", count: 256)

    /// Each key in a bucket of its own, and the folder whose listing leaves it out under this name.
    @Test(
        arguments: [
            ("//lead", "", "/"), ("a//b", "a", "/"), ("./dot", "", "./"), ("x/../y", "x", "../"), ("..", "", ".."),
            ("a/\(long)", "a", String(long.dropLast()) + "…"), ("bell\u{7}", "", "bell "), ("folder/", "folder", ""),
            (".replica", "", ".replica"), ("name", "", "name/"),
        ])
    func aKeyThatIsNoPathIsCounted(key: String, folder: String, name: String) async throws {
        try await S3Scratch.run("some") { scratch in
            try await scratch.put("some/good", "text")
            try await scratch.put("some/\(key)", "text")
            if name == "name/" { try await scratch.put("some/name/hidden", "text") }
            #expect(try await leftOut(scratch, folder) == LeftOutNames(count: 1, example: name))
            #expect(try await scratch.list()["good"] != nil)
        }
    }

    /// The store's own objects, folders' empty objects, and what is removed during a listing are nothing of the user's.
    @Test func whatHasAPathIsNotCounted() async throws {
        try await S3Scratch.run { scratch in
            for key in ["folder/", ".replica/theirs", "file", "other/file"] { try await scratch.put(key) }
            for folder in ["", "folder", "other"] { #expect(try await leftOut(scratch, folder) == LeftOutNames()) }
        }
    }

    /// More than fit into one page.
    @Test func aLargeFolderIsCountedOnce() async throws {
        try await S3Scratch.run { scratch in
            try await scratch.put("./dot")
            // More than fit into one answer to the daemon, too.
            let filler = String(repeating: "x", count: 150)
            for number in 0..<1_100 { try await scratch.put("file \(number)\(filler)") }
            try await scratch.put("z//z")
            #expect(try await leftOut(scratch) == LeftOutNames(count: 1, example: "./"))
        }
    }

    /// Other programs keep bytes in the object of a folder.
    @Test func theContentOfAFoldersObjectStays() async throws {
        try await S3Scratch.run { scratch in
            try await scratch.put("folder/", "text", [("Content-Type", "text/plain")])
            #expect(try await scratch.entry("folder")?.kind == .folder)
            let error = try await failure { try await scratch.storage.remove(scratch.path("folder"), version: nil) }
            #expect(error == .notEmpty)
            let set = try await scratch.storage.set(PathAttributes(mode: 0o750), of: scratch.path("folder"))
            #expect(set.attributes.mode == 0o750)
            #expect(try await scratch.other.content(at: "folder/") == Array("text".utf8))
            let moved = try await scratch.storage.move(scratch.path("folder"), to: scratch.path("moved"), version: nil)
            #expect(moved.attributes.mode == 0o750)
            #expect(try await scratch.other.keys() == ["moved/"])
            #expect(try await scratch.other.content(at: "moved/") == Array("text".utf8))
            #expect(try await scratch.object("moved/")?.headers["content-type"] == "text/plain")
            try await scratch.write("moved/file", "inside")
            #expect(try await scratch.other.content(at: "moved/") == Array("text".utf8))
        }
    }

    @Test func aFolderWithSuchAKeyIsNotRemovedAndMovesWithIt() async throws {
        try await S3Scratch.run { scratch in
            try await scratch.put("a/")
            try await scratch.put("a//b", "one")
            try await scratch.put("a/x/../y", "two")
            #expect(try await scratch.list("a").keys.sorted() == ["x"])
            for folder in ["a/x", "a"] {
                let error = try await failure { try await scratch.storage.remove(scratch.path(folder), version: nil) }
                #expect(error == .notEmpty)
            }
            _ = try await scratch.storage.move(scratch.path("a"), to: scratch.path("c"), version: nil)
            #expect(try await scratch.other.keys().sorted() == ["c/", "c//b", "c/x/../y"])
            #expect(try await scratch.other.content(at: "c//b") == Array("one".utf8))
        }
    }

    /// A folder whose object is empty is removed as before, also in a bucket with versions.
    @Test func anEmptyFolderIsRemoved() async throws {
        try await S3Scratch.run { scratch in
            for folder in ["folder", "folder/below"] { try await scratch.folder(folder) }
            for folder in ["folder/below", "folder"] {
                try await scratch.storage.remove(scratch.path(folder), version: nil)
            }
            #expect(try await scratch.other.keys().isEmpty)
        }
    }
}
