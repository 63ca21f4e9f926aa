import CLinux
import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// A user who writes in the store's directory makes files claim to be other items.
@Suite struct ForgedIdentityTests {
    let scratch: Scratch
    let store: DirectoryStore

    init() throws {
        scratch = try Scratch()
        store = try DirectoryStore(path: scratch.root)
    }

    /// Makes a file claim to be the item `identifier`, like a modify of this store.
    private func forge(_ name: String, _ identifier: ItemIdentifier) throws {
        let path = "\(scratch.root)/\(name)"
        try Data("forged".utf8).write(to: URL(fileURLWithPath: path))
        let file = try SystemCalls.open(path: path, O_RDONLY)
        let own = try SystemCalls.status(of: file)
        let text = "\(identifier.rawValue) \(hex(own.inode))-\(hex(UInt64(bitPattern: own.birth)))"
        try SystemCalls.setAttribute("user.replica.item", Array(text.utf8), of: file)
    }

    private func identifiers() async throws -> [String: ItemIdentifier] {
        Dictionary(try await store.all().map { ("\($0.filename)", $0.identifier) }, uniquingKeysWith: { $1 })
    }

    @Test func noFileCanPoseAsTheRoot() async throws {
        try await store.make("a", "text")
        try forge("z", .root)
        let found = try await identifiers()
        #expect(Set(found.keys) == ["a", "z"])
        #expect(found["z"] != .root)
    }

    @Test(arguments: ["0", "z"]) func noFileCanPoseAsAnotherItem(_ name: String) async throws {
        let known = try await store.make("a", "text")
        let folder = try await store.make("d")
        for victim in [known, folder] {
            let forged = "\(name)\(victim.filename)"
            try forge(forged, victim.identifier)
            let found = try await identifiers()
            #expect(found["\(victim.filename)"] == victim.identifier)
            #expect(found[forged] != nil && found[forged] != victim.identifier)
        }
        #expect(try await store.text(known) == "text")
        // A daemon that knows nothing yet meets them in any order.
        let fresh = try DirectoryStore(path: scratch.root)
        let again = try await fresh.all()
        #expect(again.count == 4 && Set(again.map(\.identifier)).count == 4)
        #expect(again.contains { $0.filename == FileName("a") && $0.identifier == known.identifier })
    }

    @Test(arguments: ["0", "z"]) func forgedMarksAreDetectedAfterARestart(_ name: String) async throws {
        let known = try await store.make("a", "text")
        try forge(name, known.identifier)
        let fresh = try DirectoryStore(path: scratch.root)
        _ = try await fresh.all()
        let found = try await fresh.all()
        #expect(found.first { $0.filename == FileName("a") }?.identifier == known.identifier)
        #expect(Set(found.map(\.identifier)).count == 2)
    }

    /// Whatever it meets first, and also where what a file says can't be taken away: who holds a lease keeps all others out.
    @Test func aFirstListingHasNoDuplicates() async throws {
        let known = try await store.make("m", "text")
        signal(SIGIO, SIG_IGN)
        var held: [Int32] = []
        defer { for file in held { close(file) } }
        for name in ["0", "a", "k", "n", "x", "z", "zz"] {
            try forge(name, known.identifier)
            let file = open("\(scratch.root)/\(name)", O_RDWR | O_CLOEXEC)
            let setLease: Int32 = 1_024
            try #require(file >= 0 && fcntl(file, setLease, F_WRLCK) == 0)
            held.append(file)
        }
        let fresh = try DirectoryStore(path: scratch.root)
        for _ in 0..<2 {
            let items = try await fresh.all()
            #expect(items.count == 8 && Set(items.map(\.identifier)).count == 8)
            #expect(items.first { $0.identifier == known.identifier }?.filename == FileName("m"))
        }
    }

    /// What comes while the folder is watched.
    @Test func theFeedDetectsForgedMarks() async throws {
        let known = try await store.make("a", "text")
        _ = try await store.all()
        var anchor = try await store.currentAnchor()
        try forge("z", known.identifier)
        var told: [Item] = []
        let isTold = try await eventually {
            let batch = try await store.enumerateChanges(from: anchor)
            anchor = batch.anchor
            told += batch.updated
            #expect(!batch.deleted.contains(known.identifier))
            return told.contains { $0.filename == FileName("z") }
        }
        #expect(isTold)
        let forged = try #require(told.last { $0.filename == FileName("z") })
        #expect(try await store.child("a").identifier == known.identifier)
        #expect(try await store.child("z").identifier != known.identifier)
        #expect(try await store.text(known) == "text")
        #expect(try await store.item(forged.identifier).filename == FileName("z"))
    }

    /// A file that a modify made stays the item when it moves.
    @Test func aModifiedFileMovesAsTheItem() async throws {
        let made = try await store.make("a", "text")
        let item = try await store.rewrite(made, "newer")
        _ = try await store.all()
        #expect(rename("\(scratch.root)/a", "\(scratch.root)/b") == 0)
        #expect(try await store.child("b").identifier == item.identifier)
        #expect(item.identifier == made.identifier)
    }
}
