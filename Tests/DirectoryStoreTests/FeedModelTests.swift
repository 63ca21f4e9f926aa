import CLinux
import Foundation
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// A client that lists each folder once and then follows the feed knows the tree, regardless of other programs'
/// changes.
@Suite(.serialized) struct FeedModelTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func aFollowerOfTheFeedKnowsTheTree(seed: UInt64) async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        var actor = RandomClient(root: scratch.root, seed: seed)
        var follower = try await Follower(store)
        for _ in 0..<150 {
            try actor.act()
            if actor.dice.next() % 8 == 0 { try await follower.follow() }
            if actor.dice.next() % 16 == 0 { try await own(store, &actor) }
        }
        let isThere = try await eventually {
            try await follower.follow()
            return follower.tree == actor.tree
        }
        #expect(isThere, "seed \(seed)")
    }

    /// One look tells all that happened before, also when folders moved into each other meanwhile: with these seeds a known
    /// folder ends up in one that was in it.
    @Test(arguments: [34, 40, 61] as [UInt64])
    func onePollReportsAllEarlierChanges(seed: UInt64) async throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(path: scratch.root)
        var actor = RandomClient(root: scratch.root, seed: seed)
        var follower = try await Follower(store)
        for round in 0..<60 {
            for _ in 0..<actor.dice.next() % 40 { try actor.rearrange() }
            try await follower.follow()
            guard follower.tree != actor.tree else { continue }
            let (told, there) = (Set(follower.tree.keys), Set(actor.tree.keys))
            try await Task.sleep(for: .milliseconds(500))
            try await follower.follow()
            Issue.record(
                """
                seed \(seed), round \(round): not told \(there.subtracting(told).sorted()), told wrongly \
                \(told.subtracting(there).sorted()); later \(follower.tree == actor.tree)
                """)
            return
        }
    }

    /// A change of the store's own, which the feed need not tell: a marker file that is deleted again.
    private func own(_ store: DirectoryStore, _ actor: inout RandomClient) async throws {
        let item = try await store.make("own \(actor.dice.next())", "text")
        try await store.deleteItem(item.identifier, base: item.version)
    }
}

/// Keeps a copy of the store by the feed alone.
private struct Follower {
    let store: DirectoryStore
    private var items: [ItemIdentifier: Item] = [:]
    private var listed: Set<ItemIdentifier> = []
    private var anchor: SyncAnchor

    init(_ store: DirectoryStore) async throws {
        self.store = store
        anchor = try await store.currentAnchor()
        try await list(.root)
    }

    private mutating func list(_ folder: ItemIdentifier) async throws {
        guard listed.insert(folder).inserted else { return }
        do {
            for item in try await store.all(in: folder) { try await take(item) }
        } catch RemoteStoreError.noSuchItem {
            // Gone since it was told; the feed will say so.
        }
    }

    private mutating func take(_ item: Item) async throws {
        items[item.identifier] = item
        if item.kind == .folder { try await list(item.identifier) }
    }

    mutating func follow() async throws {
        var hasMore = true
        while hasMore {
            let batch = try await store.enumerateChanges(from: anchor)
            for identifier in batch.deleted {
                items[identifier] = nil
                listed.remove(identifier)
            }
            for item in batch.updated { try await take(item) }
            anchor = batch.anchor
            hasMore = batch.moreComing
        }
    }

    /// Paths with sizes; -1 for folders. Entries below a deleted item are deleted with it.
    var tree: [String: Int64] {
        var found: [String: Int64] = [:]
        for item in items.values {
            guard let path = path(item) else { continue }
            found[path] = item.kind == .folder ? -1 : item.size
        }
        return found
    }

    private func path(_ item: Item) -> String? {
        var names = [item.filename.description]
        var parent = item.parent
        while parent != .root {
            guard let folder = items[parent] else { return nil }
            names.append(folder.filename.description)
            parent = folder.parent
        }
        return names.reversed().joined(separator: "/")
    }
}

/// Another program that makes all kinds of changes in a directory.
private struct RandomClient {
    let root: String
    var dice: Dice
    private var count = 0

    init(root: String, seed: UInt64) {
        self.root = root
        dice = Dice(state: seed)
    }

    mutating func act() throws {
        let folders = [""] + tree.filter { $0.value == -1 }.keys.sorted()
        let folder = folders[Int(dice.next() % UInt64(folders.count))]
        let entries = tree.keys.sorted()
        let entry = entries.isEmpty ? nil : entries[Int(dice.next() % UInt64(entries.count))]
        count += 1
        let place = "\(root)/\(folder)/\(count)"
        switch (dice.next() % 8, entry) {
        case (0, _): _ = mkdir(place, 0o755)
        case (1...3, _), (_, nil): try Data(count: count).write(to: URL(fileURLWithPath: place))
        case (4, let entry?): _ = rename("\(root)/\(entry)", place)
        case (5, let entry?): try FileManager.default.removeItem(atPath: "\(root)/\(entry)")
        case (6, let entry?): replace("\(root)/\(entry)", by: place)
        case (_, let entry?): truncate("\(root)/\(entry)", off_t(count))
        }
    }

    /// Makes, moves or exchanges something, so that paths change all the time and nothing is removed.
    mutating func rearrange() throws {
        let folders = [""] + tree.filter { $0.value == -1 }.keys.sorted()
        let folder = folders[Int(dice.next() % UInt64(folders.count))]
        let entries = tree.keys.sorted()
        let entry = entries.isEmpty ? nil : entries[Int(dice.next() % UInt64(entries.count))]
        let other = entries.isEmpty ? nil : entries[Int(dice.next() % UInt64(entries.count))]
        count += 1
        let place = "\(root)/\(folder)/\(count)"
        switch (entries.count > 60 ? 2 + dice.next() % 6 : dice.next() % 8, entry, other) {
        case (0, _, _), (_, nil, _), (_, _, nil): _ = mkdir(place, 0o755)
        case (1, _, _): try Data(count: count).write(to: URL(fileURLWithPath: place))
        case (2...5, let entry?, _): _ = rename("\(root)/\(entry)", place)
        case (_, let entry?, let other?):
            _ = renameat2(AT_FDCWD, "\(root)/\(entry)", AT_FDCWD, "\(root)/\(other)", UInt32(CL_RENAME_EXCHANGE))
        }
    }

    /// A save by rename; over a folder it fails, and the new file stays.
    private func replace(_ old: String, by new: String) {
        _ = FileManager.default.createFile(atPath: new, contents: Data(count: count))
        _ = rename(new, old)
    }

    var tree: [String: Int64] {
        var found: [String: Int64] = [:]
        for path in FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? [] {
            var status = stat()
            guard lstat("\(root)/\(path)", &status) == 0 else { continue }
            found[path] = status.st_mode & S_IFMT == S_IFDIR ? -1 : Int64(status.st_size)
        }
        return found
    }
}

/// SplitMix64: the same numbers for the same seed.
struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
