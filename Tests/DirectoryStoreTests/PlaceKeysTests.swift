import Foundation
import ReplicaModel
import SystemPackage
import Testing

@testable import DirectoryStore

/// What items are called by their places.
@Suite struct PlaceKeysTests {
    private let a = EntryPlace(parent: .root, name: FileName("a"))
    private let b = EntryPlace(parent: .root, name: FileName("b"))
    private let c = EntryPlace(parent: .root, name: FileName("c"))

    @Test func pathsIdentifyItems() {
        let keys = PlaceKeys()
        #expect(keys.key(at: a, .file) == keys.key(at: a, .file))
        #expect(keys.key(at: a, .file) != keys.key(at: b, .file))
        #expect(keys.key(at: a, .file) != keys.key(at: a, .folder))
        #expect(ItemKey(keys.key(at: a, .folder).identifier) == keys.key(at: a, .folder))
    }

    @Test func movesKeepKeysAndNewEntriesGetOthers() {
        var keys = PlaceKeys()
        let first = keys.key(at: a, .file)
        keys.set(first, at: b)
        #expect(keys.key(at: b, .file) == first)
        let second = keys.key(at: a, .file)
        #expect(second != first)
        keys.set(second, at: a)
        keys.set(first, at: c)
        #expect(keys.key(at: c, .file) == first && keys.key(at: a, .file) == second)
        #expect(keys.key(at: b, .file) == ItemKey(b, .file, number: 0))
        // Another kind is another item.
        #expect(keys.key(at: c, .folder) == ItemKey(c, .folder, number: 0))
        keys.set(nil, at: c)
        #expect(keys.key(at: a, .file) == second)
        #expect(keys.exceptions == [a: second])
    }

    @Test func returningEntriesRegainTheirKeys() {
        var keys = PlaceKeys()
        let first = keys.key(at: a, .file)
        keys.set(first, at: b)
        keys.set(first, at: a)
        #expect(keys.key(at: a, .file) == first)
        #expect(keys.key(at: b, .file) == ItemKey(b, .file, number: 0))
    }

    @Test func keysSurviveARestart() throws {
        let scratch = try Scratch()
        let path = FilePath("\(scratch.path)/places")
        let strange = EntryPlace(
            parent: ItemKey(a, .folder, number: 2), name: FileName(bytes: [0x20, 0x0A, 0xFF, 0x2E]))
        var keys: [ItemKey] = []
        do {
            let memory = try PlaceMemory(at: path)
            let first = memory.key(at: a, .file)
            memory.move(first, to: b)
            // Stays so although the other goes.
            keys = [memory.key(at: a, .file), memory.key(at: strange, .folder)]
            memory.move(keys[1], to: c)
            memory.forget([first])
            try memory.sync()
        }
        let junk = [
            "", "- - - .\n", "replica:root 61 1-1\n", "replica:root 6 1-1 .\n", "replica:root 2f 1-1 .\nreplica",
        ]
        for junk in junk {
            let file = try FileHandle(forWritingTo: URL(filePath: path.string))
            try file.seekToEnd()
            try file.write(contentsOf: Data(junk.utf8))
            try file.close()
            let memory = try PlaceMemory(at: path)
            #expect(memory.key(at: a, .file) == keys[0])
            #expect(memory.key(at: c, .folder) == keys[1])
            #expect(memory.key(at: b, .file) == ItemKey(b, .file, number: 0))
            memory.move(keys[0], to: a)
            let lines = try String(contentsOf: URL(filePath: path.string), encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 2)
        }
    }

    /// A disk that has no room is told of when it matters.
    @Test func unsavedKeysAreReported() throws {
        let scratch = try Scratch()
        let memory = try PlaceMemory(at: FilePath("\(scratch.path)/none/places"))
        let key = memory.key(at: a, .file)
        memory.move(key, to: b)
        #expect(memory.key(at: b, .file) == key)
        #expect(throws: Errno.noSuchFileOrDirectory) { try memory.sync() }
        try FileManager.default.createDirectory(atPath: "\(scratch.path)/none", withIntermediateDirectories: false)
        try memory.sync()
        #expect(try PlaceMemory(at: FilePath("\(scratch.path)/none/places")).key(at: b, .file) == key)
    }
}
